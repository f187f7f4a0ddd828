import { readFileSync } from 'node:fs';

/** A mutant that no test can kill, because nothing that the service promises differs. */
interface Equivalent {
  file: string;
  mutator: string;
  original: string;
  replacement: string;
  /** How many mutants of the file are described. @default 1 */
  count?: number;
  reason: string;
}

const equivalents: Equivalent[] = JSON.parse(readFileSync(`${import.meta.dirname}/equivalent.json`, 'utf8'));

/** The part of StrykerJS's JSON report that counts here: https://github.com/stryker-mutator/mutation-testing-elements */
export interface Report {
  files: Record<string, { source: string; mutants: Mutant[] }>;
}

interface Position {
  line: number;
  column: number;
}

interface Mutant {
  mutatorName: string;
  replacement: string;
  status: 'Killed' | 'Timeout' | 'RuntimeError' | 'Survived' | 'NoCoverage' | 'Ignored';
  location: { start: Position; end: Position };
}

interface Found extends Omit<Equivalent, 'count' | 'reason'> {
  line: number;
  status: Mutant['status'];
}

const groups: [name: string, files: RegExp][] = [
  ['contract', /^shared\/contract\//],
  ['storage', /^shared\/storage\//],
  ['runtime', /^shared\/(?:runtime\/|names|telemetry)/],
  ['functions', /^functions\//],
];

/** Of the mutants that can differ, in each group. */
const LOWEST_SCORE = 95;

/** Prints the table of all groups and the mutants to look at. @returns whether nothing is to be done about them */
export function summarize({ files }: Report): boolean {
  const mutants = Object.entries(files).flatMap(([file, { source, mutants: all }]) =>
    all.map((mutant): Found => found(file, source.split('\n'), mutant)),
  );
  const alive = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  const survivorsOf = (entry: Equivalent): number => alive.filter((mutant) => isSame(entry, mutant)).length;
  const stale = equivalents.filter(
    (entry) => entry.file in files && survivorsOf(entry) !== (entry.count ?? 1),
  );
  const excused = equivalents.filter((entry) => !stale.includes(entry));
  const open = alive.filter((mutant) => !excused.some((entry) => isSame(entry, mutant)));

  const rows = groups.flatMap(([name, pattern]) => {
    const inGroup = ({ file }: { file: string }): boolean => pattern.test(file);
    const all = mutants.filter(inGroup);
    return all.length === 0 ? [] : [[name, figures(all, open.filter(inGroup))] as const];
  });
  console.table(Object.fromEntries(rows));
  for (const { file, line, mutator, original, replacement, status } of open)
    console.log(`${file}:${line} ${status} ${mutator}: ${original} → ${replacement}`);
  for (const entry of stale)
    console.log(
      `${entry.file}: ${survivorsOf(entry)} of these survive, not ${entry.count ?? 1}: correct equivalent.json: ` +
        `${entry.mutator}: ${entry.original} → ${entry.replacement}`,
    );
  return stale.length === 0 && rows.every(([, { score }]) => score >= LOWEST_SCORE);
}

function figures(mutants: Found[], open: Found[]): Record<string, number> & { score: number } {
  const count = (list: Found[], ...statuses: Mutant['status'][]): number =>
    list.filter(({ status }) => statuses.includes(status)).length;
  // A module that throws when it is loaded fails every test of it: StrykerJS calls that a runtime error.
  const killed = count(mutants, 'Killed', 'RuntimeError');
  const timeouts = count(mutants, 'Timeout');
  const survived = count(open, 'Survived');
  const uncovered = count(open, 'NoCoverage');
  const score = Math.floor((10_000 * (killed + timeouts)) / (killed + timeouts + open.length)) / 100;
  const equivalent = count(mutants, 'Survived', 'NoCoverage') - open.length;
  return { killed, timeouts, survived, 'no coverage': uncovered, equivalent, score };
}

function found(file: string, lines: string[], { mutatorName, location, ...mutant }: Mutant): Found {
  const { start, end } = location;
  const text = lines.slice(start.line - 1, end.line).join('\n');
  const after = lines[end.line - 1]!.length - (end.column - 1);
  const original = oneLine(text.slice(start.column - 1, text.length - after));
  const replacement = oneLine(mutant.replacement);
  return { file, line: start.line, mutator: mutatorName, original, replacement, status: mutant.status };
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

function isSame(entry: Equivalent, mutant: Found): boolean {
  const members = ['file', 'mutator', 'original', 'replacement'] as const;
  return members.every((member) => entry[member] === mutant[member]);
}
