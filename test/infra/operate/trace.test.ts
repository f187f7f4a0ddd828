import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { appendFileSync, globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { collections } from '../../../shared/contract/operations.ts';
import { tableVariable } from '../../../shared/names.ts';
import { firstCollection } from '../../collections/all.ts';
import { changedAssembly, sharedSynthesis } from '../../support/assembly.ts';
import { startLocalService } from '../../support/local-service.ts';
import { done, errorOutput, runModule } from '../../support/run-command.ts';
import { sourcePosition } from '../../support/source-position.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const temporary = temporaryFolder();
const { assembly } = await sharedSynthesis();
const [bundle = ''] = globSync('asset.*/authorizer-*.mjs', { cwd: assembly });

// Without environment variables, the authorizer throws an error. This script prints the error in Lambda's log format.
const script = `
  const { handler } = await import(process.argv[1]);
  const { name, message, stack } = await handler({ type: 'TOKEN' }, {}).catch((error) => error);
  console.log(JSON.stringify({ errorType: name, errorMessage: message, stackTrace: stack.split('\\n') }));`;
const url = pathToFileURL(join(assembly, bundle)).href;
const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script, url], { env: {} });
const logLine = output.toString().replaceAll(url.replace(/[^/]+$/, ''), 'file:///var/task/');

function trace(input: string, folder = join(assembly, 'source-maps')) {
  return runModule('infra/operate/trace.ts', ['--maps', folder], {}, input);
}

test('trace replaces bundle positions in a log line with source positions', async () => {
  const traced = done(await trace(logLine));
  expect(traced).toContain(`(${sourcePosition('shared/names.ts', 'throw new Error(')}:`);
  expect(traced).toContain(
    `(${sourcePosition('functions/authorizer.ts', 'requireEnvironment(environmentVariables.stage')}:`,
  );
  expect(traced).not.toContain('.mjs:');
});

test('trace finds source maps in subfolders and prints each frame on its own line', async () => {
  const error = { stack: JSON.parse(logLine).stackTrace.join('\n') };
  const traced = done(await trace(`${JSON.stringify({ error })}\n${logLine}`, assembly));
  expect(traced.match(/\n +at \S+ \(shared\/names\.ts:\d+:\d+\)\n +at /g)).toHaveLength(2);
});

test('trace prints the lines that it can trace, and then reports the bundle of a different build', async () => {
  const other = logLine.replaceAll(/-[\da-f]{8}\.mjs/g, '-00000000.mjs');
  const { code, stdout, stderr } = await trace(`${logLine}${other}`);
  expect(code).toBe(1);
  expect(stdout).toContain('shared/names.ts:');
  expect(stderr).toMatch(/^\S+ contains no source map of authorizer-00000000\.mjs\. A different/);
});

test('trace replaces each of several positions that no space separates', async () => {
  const [position = ''] = /file:[^\s()]+\.mjs:\d+:\d+/.exec(logLine)!;
  const traced = done(await trace([position, basename(position), position].join()));
  expect(traced).toMatch(/^(\w+\/[\w./-]+:\d+:\d+),\1,\1\n$/);
});

// If the time grew with the square of a text's length, these tests would reach Jest's time limit.
const megabyte = (text: string) => text.repeat(1_000_000 / text.length);
test('trace reads megabytes of texts that look like the starts of many positions', async () => {
  const text = [
    megabyte('a'),
    megabyte('0a1b'),
    megabyte('x-'),
    megabyte('/'),
    megabyte('\\'),
    megabyte('a-0a1b2c3d'),
    `${megabyte('x-')}0a1b2c3d.mjs:1:1`,
    `a-0a1b2c3d.mjs:${megabyte('1')}:${megabyte('2')}`,
    megabyte('/a-0a1b2c3d.mjs:1:1,'),
    Array.from({ length: 50_000 }, (_, n) => `f${n}-0a1b2c3d.mjs:1:1`).join(),
  ].join(' ');
  const { stdout } = await trace(`${text} ${logLine}`);
  // Unlike `startsWith`, `toContain(text)` would print megabytes if it failed.
  expect(stdout.startsWith(text)).toBe(true);
  expect(stdout.slice(text.length)).toContain('(shared/names.ts:');
});

test('trace finds stack traces between colors, and in a log with a megabyte of unfinished escape sequences', async () => {
  const colored = logLine.replaceAll('file:', '\u001B[36mfile:').replaceAll('.mjs', '.mjs\u001B[0m');
  const unfinished = '\u001B] '.repeat(350_000);
  const traced = done(await trace(`${colored}${unfinished}\n`));
  expect(traced).toContain(`(${sourcePosition('shared/names.ts', 'throw new Error(')}:`);
  expect(traced).not.toContain('.mjs:');
});

test('trace rejects a missing folder, and rejects input that contains no stack trace', async () => {
  const message = 'Standard input contains no stack trace of a function. Pass more log lines.';
  expect(errorOutput(await trace('{"message":"no stack"}'))).toBe(message);
  expect(errorOutput(await trace(logLine, '/nowhere'))).toMatch(
    /^The folder \/nowhere does not exist\. .*--maps/,
  );
});

test('the local service prints source positions in stack traces, even after a log line of a megabyte', async () => {
  const variable = new RegExp(`"${tableVariable(collections[0])}"`, 'g');
  const changed = changedAssembly(assembly, join(temporary, 'cdk.out'), variable, '"NO_TABLE"');
  for (const file of globSync('asset.*/*.mjs', { cwd: changed }))
    appendFileSync(join(changed, file), "\nconsole.log('a'.repeat(1_000_000));\n");
  const service = await startLocalService('--assembly', changed);
  try {
    expect((await service.request(firstCollection.path)).status).toBe(500);
    expect(service.output().includes('a'.repeat(1_000_000))).toBe(true);
    await service.printed(new RegExp(`\\(${sourcePosition('shared/names.ts', 'throw new Error(')}:`));
  } finally {
    await service.stop();
  }
});
