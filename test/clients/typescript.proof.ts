import { beforeAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { done, sharedCompileCache } from '../support/run-command.ts';
import { blockWith } from '../support/markdown-code.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { hasTools, toolModules } from '../support/tools.ts';
import { document, unpack } from './example-clients.ts';

// The types are generated from openapi.json by the tool that docs/clients.md recommends.

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** Folders of compilers, by version: the project's own, and the one that the tool generates types with. */
const compilers = { 7: modules, 5: toolModules };
const parent = temporaryFolder();
const [, tool = '', major = '', parameters = ''] =
  /^npx ([\w-]+)@(\d+) (.+)\n$/.exec(blockWith('npx ', document)) ?? [];
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

/** The errors of a compiler in this file and those that it imports, with strict options. */
function errorsOf(version: keyof typeof compilers, file: string): string[] {
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
  const { stdout } = run(join(compilers[version], 'typescript/bin/tsc'), '--pretty', 'false');
  return stdout.split('\n').filter((line) => line !== '');
}

(hasTools() ? describe : describe.skip)('the client in TypeScript', () => {
  beforeAll(() => {
    folder = unpack(parent);
    writeFileSync(join(folder, 'openapi.json'), readFileSync(new URL('../../openapi.json', import.meta.url)));
    const { status, stdout, stderr } = run(join(toolModules, tool, 'bin/cli.js'), ...parameters.split(' '));
    done({ code: status ?? 1, stdout, stderr });
  });

  test.each([7, 5] as const)(
    'compiles with TypeScript %d and types from the version of the document',
    (version) => {
      const manifest = JSON.parse(readFileSync(join(toolModules, tool, 'package.json'), 'utf8'));
      expect(manifest.version).toMatch(new RegExp(`^${major}\\.`));
      expect(errorsOf(version, 'try.ts')).toEqual([]);
    },
  );

  test('does not compile with what openapi.json has not', () => {
    const wrong = [
      `rex.colour;`,
      `rex.id satisfies number;`,
      `rex.status satisfies string;`,
      `await createPet(service, { name: 'Rex', categoryId: 7 }, idempotencyKey);`,
      `await createPet(service, { name: 'Rex', categoryId: 7n, status: 'lost' }, idempotencyKey);`,
      `await createPet(service, { name: 'Rex' }, idempotencyKey);`,
      `await createPet(service, { name: 'Rex', categoryId: 7n });`,
      `listPets(service, { cursor: 'x' });`,
      `new PetStoreError({ code: 'x', message: 'x' });`,
    ];
    const lines = readFileSync(join(folder, 'try.ts'), 'utf8').split('\n').length;
    writeFileSync(join(folder, 'wrong.ts'), readFileSync(join(folder, 'try.ts')));
    appendFileSync(join(folder, 'wrong.ts'), wrong.join('\n'));
    const found = errorsOf(7, 'wrong.ts').flatMap((line) => /^wrong\.ts\((\d+),/.exec(line)?.[1] ?? []);
    expect(new Set(found.map(Number))).toEqual(new Set(wrong.map((_, index) => lines + index)));
  });
});
