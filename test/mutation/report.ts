import { readFileSync } from 'node:fs';

/** A mutant that no test can kill, because it does not change the service's documented behavior. */
interface Equivalent {
  file: string;
  mutator: string;
  original: string;
  replacement: string;
  /** Number of mutants in the file that match this entry. @default 1 */
  count?: number;
  reason: string;
}

const equivalents: Equivalent[] = JSON.parse(readFileSync(`${import.meta.dirname}/equivalent.json`, 'utf8'));

/** Parts of StrykerJS's JSON report. https://github.com/stryker-mutator/mutation-testing-elements */
export interface Report {
  files: Record<string, { source: string; mutants: Mutant[] }>;
}

interface Mutant {
  mutatorName: string;
  replacement: string;
  status: 'Killed' | 'Timeout' | 'RuntimeError' | 'Survived' | 'NoCoverage' | 'Ignored';
  location: Record<'start' | 'end', { line: number; column: number }>;
}

interface Located extends Omit<Equivalent, 'count' | 'reason'> {
  line: number;
  status: Mutant['status'];
}

const groups: [name: string, files: RegExp][] = [
  ['contract', /^shared\/contract\//],
  ['storage', /^shared\/storage\//],
  ['runtime', /^shared\/(?:runtime\/|names|telemetry)/],
  ['functions', /^functions\//],
];

/** Minimum score of each group in percent. Equivalent mutants do not count. */
const LOWEST_SCORE = 95;

/** Prints all groups, surviving mutants and stale entries. Returns whether all scores suffice and no entry is stale. */
export function summarize({ files }: Report): boolean {
  const mutants = Object.entries(files).flatMap(([file, { source, mutants: all }]) =>
    all.map((mutant): Located => locate(file, source.split('\n'), mutant)),
  );
  const alive = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  const survivorsOf = (entry: Equivalent): number => alive.filter((mutant) => isSame(entry, mutant)).length;
  const stale = equivalents.filter(
    (entry) => entry.file in files && survivorsOf(entry) !== (entry.count ?? 1),
  );
  const valid = equivalents.filter((entry) => !stale.includes(entry));
  const open = alive.filter((mutant) => !valid.some((entry) => isSame(entry, mutant)));

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
      `${entry.file}: ${entry.count ?? 1} mutants should survive, but ${survivorsOf(entry)} survived. ` +
        `Update equivalent.json: ${entry.mutator}: ${entry.original} → ${entry.replacement}`,
    );
  return stale.length === 0 && rows.every(([, { score }]) => score >= LOWEST_SCORE);
}

function figures(mutants: Located[], open: Located[]): Record<string, number> & { score: number } {
  const count = (list: Located[], ...statuses: Mutant['status'][]): number =>
    list.filter(({ status }) => statuses.includes(status)).length;
  // StrykerJS reports a runtime error if a module throws while it loads. All tests of the module then fail.
  const killed = count(mutants, 'Killed', 'RuntimeError');
  const timeouts = count(mutants, 'Timeout');
  const survived = count(open, 'Survived');
  const uncovered = count(open, 'NoCoverage');
  const score = Math.floor((10_000 * (killed + timeouts)) / (killed + timeouts + open.length)) / 100;
  const equivalent = count(mutants, 'Survived', 'NoCoverage') - open.length;
  return { killed, timeouts, survived, 'no coverage': uncovered, equivalent, score };
}

function locate(file: string, lines: string[], { mutatorName, location, ...mutant }: Mutant): Located {
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

function isSame(entry: Equivalent, mutant: Located): boolean {
  const keys = ['file', 'mutator', 'original', 'replacement'] as const;
  return keys.every((key) => entry[key] === mutant[key]);
}
