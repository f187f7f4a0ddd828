import { beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { sharedCompileCache } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { hasTools, toolModules } from '../../support/tools.ts';
import { unpack, wrongUses } from './example-clients.ts';

// Generates types from openapi.json with the command in docs/clients.md, and compiles the TypeScript client with them.

/** Folders of TypeScript 7, which the project uses, and of TypeScript 5, which the type generator uses. */
const compilers = { 7: resolve('node_modules'), 5: toolModules };
const parent = temporaryFolder();
const [, tool = '', major = '', parameters = ''] =
  /^npx ([\w-]+)@(\d+) (.+)$/m.exec(readFileSync('docs/clients.md', 'utf8')) ?? [];
let folder: string;

/** Compiler options that this project does not use, but that a project with a copy of the client may use. */
const compilerOptions = {
  target: 'es2024',
  lib: ['es2024', 'dom'],
  noPropertyAccessFromIndexSignature: true,
  noImplicitReturns: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
};

/** Compiles a file and its imports with strict options. Returns the compiler's errors. */
function errorsOf(version: keyof typeof compilers, file: string): string[] {
  const settings = { extends: resolve('tsconfig.json'), compilerOptions, files: [file], include: [] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  const command = [join(compilers[version], 'typescript/bin/tsc'), '--pretty', 'false'];
  const env = { ...process.env, ...sharedCompileCache() };
  const { stdout } = spawnSync(process.execPath, command, { cwd: folder, encoding: 'utf8', env });
  return stdout.split('\n').filter((line) => line !== '');
}

(hasTools() ? describe : describe.skip)('the TypeScript client', () => {
  beforeAll(() => {
    folder = unpack(parent);
    copyFileSync('openapi.json', join(folder, 'openapi.json'));
    const command = [join(toolModules, tool, 'bin/cli.js'), ...parameters.split(' ')];
    execFileSync(process.execPath, command, { cwd: folder });
  });

  test.each([7, 5] as const)('compiles with TypeScript %d and generated types', (version) => {
    const manifest = JSON.parse(readFileSync(join(toolModules, tool, 'package.json'), 'utf8'));
    expect(manifest.version).toMatch(new RegExp(`^${major}\\.`));
    expect(errorsOf(version, 'try.ts')).toEqual([]);
  });

  test('causes a compiler error in each line that uses wrong fields, types or calls', () => {
    const lines = readFileSync(join(folder, 'try.ts'), 'utf8').split('\n').length;
    writeFileSync(join(folder, 'wrong.ts'), readFileSync(join(folder, 'try.ts')));
    appendFileSync(join(folder, 'wrong.ts'), wrongUses.join('\n'));
    const found = errorsOf(7, 'wrong.ts').flatMap((line) => /^wrong\.ts\((\d+),/.exec(line)?.[1] ?? []);
    expect(new Set(found.map(Number))).toEqual(new Set(wrongUses.map((_, index) => lines + index)));
  });
});
