import { describe, expect, test } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, matchesGlob } from 'node:path';
import { promisify } from 'node:util';
import { assemblyWithoutCache } from '../support/assembly.ts';
import { startLocalService } from '../support/local-service.ts';
import { codeBlocksIn } from '../support/markdown-code.ts';
import { product } from '../support/product.ts';
import { outcomeOf, sharedCompileCache } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// These tests check the code blocks in documents and run the `sh` blocks. "How tests are written" in CONTRIBUTING.md
// defines the kinds of blocks.

const COMMANDS = /^sh$/;
const RESPONSE = /^(?:http|json|text)$/;
const NOT_RUN = /^(?:sh setup|(?:sh|json|text) aws|mermaid|regex)$/;
/** Documents with code blocks that other tests run, and patterns for the info strings of these blocks. */
const OTHERS: [documents: string, info: RegExp][] = [
  ['CONTRIBUTING.md', /^diff \S+$/],
  ['docs/clients/*.md', /^(?:(?:ts|python) [\w-]+\.\w+|text output)$/],
  ['docs/add-a-resource.md', /^(?:ts|diff) \S+$/],
  ['docs/adapt.md', /^(?:sh adapt|diff \S+)$/],
];

/** Matches a time, such as `2026-11-21T17:43:08.512Z` or, in a table, `2026-11-21 17:43`. */
const TIME = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::[\d.]+Z)?/;
/** Matches text that differs between runs: a time, an id, a request id, a key id, an API key or its start, or a cursor. */
const VARYING = new RegExp(
  `(${TIME.source}|\\b\\d{15}\\b|[\\da-f]{8}-[\\da-f-]{27}|\\bkey_[\\da-f]{20}|(?<=\\b${product.keyStart}_[a-z][a-z\\d]*_)\\w+|(?<=cursor=)[\\w-]+)`,
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
// The authorizer cache is disabled because a revoked key would otherwise keep working for up to a minute.
const assembly = await assemblyWithoutCache(folder);

test.each(files)('the code blocks of %s have a known kind, and their shell code has valid syntax', (file) => {
  const others = OTHERS.filter(([documents]) => matchesGlob(file, documents)).map(([, info]) => info);
  const kinds = [COMMANDS, RESPONSE, NOT_RUN, ...others];
  const problems = blocksOf(file).flatMap(({ place, info, code }) => {
    if (!kinds.some((kind) => kind.test(info))) {
      return `${place} has the unknown kind "${info}". See "How tests are written" in CONTRIBUTING.md for the known kinds.`;
    }
    if (info === 'json aws') JSON.parse(code);
    if (!info.startsWith('sh')) return [];
    const { stderr } = spawnSync('sh', ['-n'], { input: code, encoding: 'utf8' });
    return stderr ? `${place} has invalid syntax: ${stderr}` : [];
  });
  expect(problems).toEqual([]);
});

(hasCurl ? describe : describe.skip)('with curl and a new local service,', () => {
  test.each(files.filter((file) => examplesOf(file).length > 0))(
    'the examples in %s print the documented output',
    async (file) => {
      expect(await problemsOf(examplesOf(file))).toEqual([]);
    },
  );
});

function blocksOf(file: string) {
  const blocks = codeBlocksIn(readFileSync(file, 'utf8'));
  return blocks.map((block) => ({ ...block, place: `${file}:${block.line}` }));
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

/** Runs examples in one shell. Returns messages about output and exit codes that differ from the documentation. */
async function problemsOf(examples: Example[]): Promise<string[]> {
  const home = mkdtempSync(join(folder, 'home-'));
  // With these settings, curl exits with code 22 after an error response, and hides its progress.
  writeFileSync(join(home, '.curlrc'), 'fail-with-body\nsilent\nshow-error\n');
  const data = join(home, 'data');
  const service = await startLocalService('--data', data, '--assembly', assembly);
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    HOME: home,
    BASE_URL: service.baseUrl,
    API_KEY: service.apiKey,
    STAGE: 'local',
    ...sharedCompileCache(),
  };
  // This shell function replaces npm, which starts scripts more slowly. The function also adds the option --data and
  // confirms prompts.
  const npm = `npm() { shift; [ "$1" != --silent ] || shift; echo yes | node --run "$@" --data '${data}'; }`;
  const output = join(home, 'output');
  const latest = `latest() { grep -o "$BASE_URL$1[0-9]*" '${output}' | tail -n 1; }`;
  const commands = examples.map(commandsOf).join(`printf '\n@\n'\n`);
  const script = `set -e\nexec >'${output}'\n${npm}\n${latest}\n${commands}`;
  const { code, stderr } = await outcomeOf(promisify(execFile)('sh', ['-c', script], { env }));
  await service.stop();
  const printed = readFileSync(output, 'utf8')
    .replaceAll(service.baseUrl, 'http://localhost:3000/v1')
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
