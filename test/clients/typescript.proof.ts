import { beforeAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { done, sharedCompileCache } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { hasTools, toolModules } from '../support/tools.ts';
import { document, unpack, wrongUses } from './example-clients.ts';

// Generates types from openapi.json with the command in docs/clients.md, and compiles the TypeScript client with them.

/** Folder that contains each TypeScript version. The project uses version 7, and the generator uses version 5. */
const compilers = { 7: resolve('node_modules'), 5: toolModules };
const parent = temporaryFolder();
const [, tool = '', major = '', parameters = ''] = /^npx ([\w-]+)@(\d+) (.+)$/m.exec(document) ?? [];
let folder: string;

function run(...argumentsOfNode: string[]) {
  const env = { ...process.env, ...sharedCompileCache() };
  return spawnSync(process.execPath, argumentsOfNode, { cwd: folder, encoding: 'utf8', env });
}

const compilerOptions = {
  module: 'nodenext',
  target: 'es2024',
  lib: ['es2024', 'dom'],
  types: ['node'],
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitReturns: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true,
};

/** Compiles a file and its imports with strict options. Returns the compiler's errors. */
function errorsOf(version: keyof typeof compilers, file: string): string[] {
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
  const { stdout } = run(join(compilers[version], 'typescript/bin/tsc'), '--pretty', 'false');
  return stdout.split('\n').filter((line) => line !== '');
}

(hasTools() ? describe : describe.skip)('the TypeScript client', () => {
  beforeAll(() => {
    folder = unpack(parent);
    copyFileSync('openapi.json', join(folder, 'openapi.json'));
    const { status, stdout, stderr } = run(join(toolModules, tool, 'bin/cli.js'), ...parameters.split(' '));
    done({ code: status ?? 1, stdout, stderr });
  });

  test.each([7, 5] as const)('compiles with TypeScript %d and generated types', (version) => {
    const manifest = JSON.parse(readFileSync(join(toolModules, tool, 'package.json'), 'utf8'));
    expect(manifest.version).toMatch(new RegExp(`^${major}\\.`));
    expect(errorsOf(version, 'try.ts')).toEqual([]);
  });

  test('does not compile if an example uses fields, types or calls that openapi.json does not allow', () => {
    const lines = readFileSync(join(folder, 'try.ts'), 'utf8').split('\n').length;
    writeFileSync(join(folder, 'wrong.ts'), readFileSync(join(folder, 'try.ts')));
    appendFileSync(join(folder, 'wrong.ts'), wrongUses.join('\n'));
    const found = errorsOf(7, 'wrong.ts').flatMap((line) => /^wrong\.ts\((\d+),/.exec(line)?.[1] ?? []);
    expect(new Set(found.map(Number))).toEqual(new Set(wrongUses.map((_, index) => lines + index)));
  });
});
