import { describe, expect, test } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, matchesGlob } from 'node:path';
import { promisify } from 'node:util';
import { assemblyWithoutCache } from '../support/assembly.ts';
import { startLocalService } from '../support/local-service.ts';
import { codeBlocksIn } from '../support/markdown-code.ts';
import { outcomeOf } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// These tests check the code blocks in documents and run the `sh` blocks. "Code blocks in documents" in
// CONTRIBUTING.md defines the kinds of blocks.

const COMMANDS = /^sh$/;
const RESPONSE = /^(?:http|json|text)$/;
const NOT_RUN = /^(?:sh setup|(?:sh|json|text) aws|mermaid|regex)$/;
/** Documents with code blocks that other tests run, and patterns for the info strings of these blocks. */
const OTHERS: [documents: string, info: RegExp][] = [
  ['README.md', /^ts functions\/get-pet\.ts$/],
  ['docs/clients.md', /^(?:(?:ts|python) [\w-]+\.\w+|text output)$/],
  ['docs/adapt.md', /^(?:sh adapt|(?:ts|diff) \S+)$/],
  ['docs/change-and-remove.md', /^(?:ts|diff) \S+$/],
];

/** Matches a time, such as `2026-11-21T17:43:08.512Z` or, in a table, `2026-11-21 17:43`. */
const TIME = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::[\d.]+Z)?/;
/** Matches text that differs between runs: a time, an id, a request id, a key id, an API key or its start, or a cursor. */
const VARYING = new RegExp(
  `(${TIME.source}|\\b\\d{15}\\b|[\\da-f]{8}-[\\da-f-]{27}|\\bkey_[\\da-f]{20}|(?<=\\bpets_[a-z][a-z\\d]*_)\\w+|(?<=cursor=)[\\w-]+)`,
);

/** Commands at a position such as `README.md:45`, and the excerpts of their output that follow in the document. */
interface Example {
  place: string;
  code: string;
  prints: string[];
}

const folder = temporaryFolder();
const files = globSync(['*.md', 'docs/**/*.md']).toSorted();
const hasCurl = spawnSync('curl', ['-q', '--fail-with-body', '--version']).status === 0;

test('code blocks have a known kind, and their shell code and JSON have valid syntax', () => {
  const problems = files.flatMap((file) => {
    const others = OTHERS.filter(([documents]) => matchesGlob(file, documents)).map(([, info]) => info);
    const kinds = [COMMANDS, RESPONSE, NOT_RUN, ...others];
    const blocks = blocksOf(file);
    const unknown = blocks.filter(({ info }) => !kinds.some((kind) => kind.test(info)));
    for (const { info, code } of blocks) if (info === 'json aws') JSON.parse(code);
    return [
      ...unknown.map(
        ({ place, info }) =>
          `${place} has the unknown kind "${info}". See "Code blocks in documents" in CONTRIBUTING.md for the known kinds.`,
      ),
      shellErrorsIn(file),
    ];
  });
  expect(problems.filter(Boolean)).toEqual([]);
});

test('README.md shows functions/get-pet.ts as it is', () => {
  const shown = blocksOf('README.md').filter(({ info }) => info.startsWith('ts '));
  expect(shown.map(({ code }) => code)).toEqual([readFileSync('functions/get-pet.ts', 'utf8')]);
});

// In CI, this test fails without curl.
(hasCurl || process.env['CI'] === 'true' ? describe : describe.skip)('with curl,', () => {
  test('the sh blocks print the documented output', async () => {
    expect(await problemsOf(files.map(examplesOf).filter((examples) => examples.length > 0))).toEqual([]);
  });
});

function blocksOf(file: string) {
  const blocks = codeBlocksIn(readFileSync(file, 'utf8'));
  return blocks.map((block) => ({ ...block, place: `${file}:${block.line}` }));
}

/** Returns the shell's messages about all shell code of a document, with the document's line numbers. */
function shellErrorsIn(file: string): string {
  const lines: string[] = [];
  for (const { line, code } of blocksOf(file).filter(({ info }) => info.startsWith('sh')))
    for (const [index, text] of code.split('\n').entries()) lines[line + index] = text;
  const { stderr } = spawnSync('sh', ['-n'], { input: Array.from(lines).join('\n'), encoding: 'utf8' });
  return stderr && `${file} has invalid syntax: ${stderr}`;
}

function examplesOf(file: string): Example[] {
  const examples: Example[] = [];
  for (const { place, info, code } of blocksOf(file)) {
    if (COMMANDS.test(info)) examples.push({ place, code, prints: [] });
    if (!RESPONSE.test(info)) continue;
    if (!examples.length) throw new Error(`${place} is a response, but no sh block precedes it.`);
    examples.at(-1)!.prints.push(code);
  }
  return examples;
}

/**
 * Runs the examples of each document in a shell, one after the other with the same new service. Returns messages about
 * output and exit codes that differ from the documentation.
 */
async function problemsOf(documents: Example[][]): Promise<string[]> {
  // With these settings, curl exits with code 22 after an error response, and hides its progress.
  writeFileSync(join(folder, '.curlrc'), 'fail-with-body\nsilent\nshow-error\n');
  const data = join(folder, 'data');
  // The authorizer cache is disabled because a revoked key would otherwise keep working for up to a minute.
  const service = await startLocalService('--data', data, '--assembly', await assemblyWithoutCache(folder));
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    HOME: folder,
    BASE_URL: service.baseUrl,
    API_KEY: service.apiKey,
    STAGE: 'local',
  };
  const problems: string[] = [];
  for (const examples of documents) problems.push(...(await problemsIn(examples, data, env)));
  await service.stop();
  return problems;
}

async function problemsIn(examples: Example[], data: string, env: Record<string, string>): Promise<string[]> {
  // This shell function replaces npm, which starts scripts more slowly. The function also adds the option --data and
  // confirms prompts.
  const npm = `npm() { shift; [ "$1" != --silent ] || shift; echo yes | node --run "$@" --data '${data}'; }`;
  const output = join(folder, 'output');
  const latest = `latest() { grep -o "$BASE_URL$1[0-9]*" '${output}' | tail -n 1; }`;
  const commands = examples.map(commandsOf).join(`printf '\n@\n'\n`);
  const script = `set -e\nexec >'${output}'\n${npm}\n${latest}\n${commands}`;
  const { code, stderr } = await outcomeOf(promisify(execFile)('sh', ['-c', script], { env }));
  const printed = readFileSync(output, 'utf8')
    .replaceAll(env['BASE_URL']!, 'http://localhost:3000/v1')
    .replaceAll(/^(?:Content-Length|Date|Connection|Keep-Alive): .*\r\n/gm, '')
    .replaceAll('\r', '')
    .split('\n@\n');
  const problems = printed.flatMap((text, index) => {
    const { place, prints } = examples[index]!;
    const missing = prints.filter((lines) => !excerpt(lines).test(`\n${text}\n`));
    return missing.map((lines) => `${place} printed ${text} instead of ${lines}`);
  });
  if (code !== 0) problems.push(`${examples[printed.length - 1]!.place} failed: ${printed.at(-1)}${stderr}`);
  return problems;
}

/**
 * Returns a script for an example. If the document shows an error response, the script expects curl to fail. The URL of
 * an item is replaced with the URL that the latest create of such an item has printed.
 */
function commandsOf({ code, prints }: Example): string {
  const commands = code.replaceAll(/\$BASE_URL(\/[\w/-]+\/)\d{15}\b/g, '$(latest $1)');
  const isError = prints.some((lines) => /"status":[45]\d\d\}/.test(lines));
  return isError ? `set +e\n${commands}[ $? = 22 ] || exit 1\nset -e\n` : commands;
}

/**
 * Returns a pattern that matches `lines` with any ids, API keys, times and cursors. Equal ids in `lines` match only equal
 * ids. Columns can have other widths, because the start of an API key, such as `pets_`, has another length in a service
 * for another resource. If `lines` start with the status line of a response, they must be the whole output.
 */
function excerpt(lines: string): RegExp {
  const names = new Map<string, string>();
  const parts = lines.split(VARYING).map((part, index) => {
    if (index % 2 === 0)
      return part
        .split(/ {2,}/)
        .map((text) => text.replaceAll(/\W/g, '\\$&'))
        .join(' {2,}');
    if (TIME.test(part)) return TIME.source;
    if (names.has(part)) return `\\k<${names.get(part)}>`;
    names.set(part, `varying${names.size}`);
    return `(?<${names.get(part)}>[\\w-]+)`;
  });
  const isWhole = lines.startsWith('HTTP/');
  return new RegExp(isWhole ? `^\n${parts.join('')}\n*$` : `\n${parts.join('')}`);
}
