import { beforeAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { codeBlocksIn, proseOf } from '../support/markdown-code.ts';
import { commandEnvironment, type Outcome, outcomeOf } from '../support/run-command.ts';

const read = (file: string) => readFileSync(file, 'utf8');

const scripts: Record<string, string> = JSON.parse(read('package.json')).scripts;
const pages = globSync('{*,docs/**/*,.github/*,infra/**/*}.md', { exclude: ['infra/*/node_modules'] });

/** The npm scripts that run one of the project's modules. The others run tools. */
const ownScripts = Object.keys(scripts).filter((name) => /^node --require \S+ \S+\.ts$/.test(scripts[name]!));
/** What each of these scripts prints for `--help`. */
const help = new Map<string, Outcome>();

// Commands share files with tests. Here, each command runs outside Jest, where it fails if such a file imports code that
// needs Jest.
beforeAll(async () => {
  // Without this variable, commands use the compile cache of the npm scripts, which outlives this run.
  const { NODE_COMPILE_CACHE: _cache, ...env } = commandEnvironment({});
  const waiting = [...ownScripts];
  async function runWaiting(): Promise<void> {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const running = promisify(execFile)(process.execPath, ['--run', name, '--', '--help'], { env });
      help.set(name, await outcomeOf(running));
    }
  }
  await Promise.all([runWaiting(), runWaiting()]);
});

test('each command prints its usage for --help', () => {
  const starts = ownScripts.map((name) => {
    const { code, stdout, stderr } = help.get(name)!;
    return [name, { code, stderr, stdout: stdout.split(/ -- |\n/)[0] }];
  });
  const expected = ownScripts.map((name) => {
    return [name, { code: 0, stderr: '', stdout: name === 'start' ? 'npm start' : `npm run ${name}` }];
  });
  expect(ownScripts.length).toBeGreaterThan(5);
  expect(Object.fromEntries(starts)).toEqual(Object.fromEntries(expected));
});

test('pages name only npm scripts, and options and actions of commands, that exist', () => {
  const mentions = pages.flatMap((page) =>
    codeIn(read(page)).flatMap((code) => {
      const found = code.matchAll(/\bnpm (?:(start|test)|run (?:--silent )?([\w:]+))(?: -- ([^|;&)]*))?/g);
      return Array.from(found, ([command, start, script, args = '']) => ({
        place: `${page}: ${command}`,
        script: (start ?? script)!,
        args,
      }));
    }),
  );
  expect(mentions.length).toBeGreaterThan(100);
  const wrong = mentions.filter(({ script, args }) => {
    const usage = help.get(script)?.stdout;
    if (usage === undefined) return !(script in scripts);
    const options = (args.match(/(?<= |^)--[a-z-]+/g) ?? []).filter((option) => option !== '--help');
    const action = script === 'keys' && /^\w/.test(args) ? [`\n  ${args.split(' ', 1)[0]} `] : [];
    const words = new Set(usage.match(/--[a-z-]+/g));
    return options.some((option) => !words.has(option)) || action.some((start) => !usage.includes(start));
  });
  expect(wrong.map(({ place }) => place)).toEqual([]);
});

// All users of a machine can see the arguments of its processes. Other blocks are not checked, because they are examples
// for clients. The API reference explains how to hide the key in them.
test('the commands for operators pass API keys to curl, but not as arguments', () => {
  const lines = pages.flatMap((page) =>
    codeBlocksIn(read(page))
      .filter(({ info }) => info === 'sh aws')
      .flatMap(({ code }) => code.replaceAll('\\\n', '').split('\n'))
      .map((line) => `${page}: ${line}`),
  );
  expect(lines.some((line) => line.includes('with_key'))).toBe(true);
  expect(lines.filter((line) => /Bearer|\bcurl\b.*API_KEY/.test(line))).toEqual([]);
});

test('.ci/run runs the test command that README.md prints', () => {
  for (const file of ['README.md', '.ci/run']) expect(read(file).split('\n')).toContain('npm test');
});

/** Returns the lines of a page's code blocks, and the code within its sentences. */
function codeIn(page: string): string[] {
  const blocks = codeBlocksIn(page).flatMap(({ code }) => code.replaceAll(/\\\n\s*/g, '').split('\n'));
  const spans = proseOf(page).match(/`[^`]+`/g) ?? [];
  return [...blocks, ...spans.map((span) => span.slice(1, -1).replaceAll(/\s+/g, ' '))];
}
