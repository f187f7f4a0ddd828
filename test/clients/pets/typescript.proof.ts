import { beforeAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type * as client from '../../../docs/clients/pets.ts';
import type * as contract from '../../../shared/contract/pets.ts';
import { codeBlocksIn } from '../../support/markdown-code.ts';
import { sharedCompileCache } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { hasTools, toolModules } from '../../support/tools.ts';

// These tests compile the TypeScript client and its example in projects that `tsc --init` creates.

const parent = temporaryFolder();
/** Folders of TypeScript 7, which the project uses, and of TypeScript 5. */
const compilers = { 7: resolve('node_modules'), 5: toolModules };
const blocks = codeBlocksIn(readFileSync('docs/clients.md', 'utf8'));
/** The example as docs/clients.md says to write it for `tsc`. */
const example = blocks.find(({ info }) => info === 'ts try.ts')!.code.replace(`'./pets.ts'`, `'./pets.js'`);

/** Lines that each cause a compiler error if they are appended to the example. */
const wrongUses = [
  `rex.colour;`,
  `rex.id satisfies number;`,
  `rex.status satisfies string;`,
  `await store.createPet({ name: '', categoryId: 7 }, idempotencyKey);`,
  `await store.createPet({ name: '', categoryId: 7n, status: 'nonsense' }, idempotencyKey);`,
  `await store.createPet({ name: '' }, idempotencyKey);`,
  `await store.createPet({ name: '', categoryId: 7n });`,
  `await store.createPet({ name: '', categoryId: 7n }, undefined);`,
  `await store.createPet({ name: '', categoryId: 7n, colour: '' }, idempotencyKey);`,
  `store.listPets({ cursor: 'x' });`,
  `store.listPets({ status: 'nonsense' });`,
  `new PetStore('https://api.example.com/v1');`,
  `new PetStoreError(500);`,
];

function run(cwd: string, ...parameters: string[]) {
  const env = { PATH: process.env['PATH'], ...sharedCompileCache() };
  return spawnSync(process.execPath, parameters, { cwd, encoding: 'utf8', env });
}

for (const version of [7, 5] as const) {
  const compile = [join(compilers[version], 'typescript/bin/tsc'), '--pretty', 'false'];

  (version === 7 || hasTools() ? describe : describe.skip)(`in a project of TypeScript ${version}`, () => {
    const folder = mkdtempSync(join(parent, `typescript-${version}-`));

    beforeAll(() => {
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
      writeFileSync(join(folder, 'pets.ts'), readFileSync('docs/clients/pets.ts'));
      writeFileSync(join(folder, 'try.ts'), example);
      run(folder, ...compile, '--init');
    });

    test('the client and its example compile, and the result runs', () => {
      const { stdout, status } = run(folder, ...compile);
      expect({ stdout, status }).toEqual({ stdout: '', status: 0 });
      expect(run(folder, 'try.js').stderr).toContain('The base URL must start with');
    });

    test('each wrong line is a compiler error', () => {
      writeFileSync(join(folder, 'wrong.ts'), `${example}\n${wrongUses.join('\n')}`);
      const firstLine = example.split('\n').length + 1;
      const { stdout } = run(folder, ...compile, '--noEmit');
      const lines = Array.from(stdout.matchAll(/^wrong\.ts\((\d+),/gm), ([, line]) => Number(line));
      expect(new Set(lines)).toEqual(new Set(wrongUses.map((_, index) => firstLine + index)));
    });
  });
}

/** The fields of a type, without the difference between an absent and an undefined field. */
type Fields<Type> = { [Field in keyof Type]-?: NonNullable<Type[Field]> };

test('the client has the fields and values of the contract', () => {
  // If the client or the contract lacks a field or a value of the other, these lines do not compile.
  const pet: Fields<contract.Pet> = { id: 1n, name: 'Rex', categoryId: 7n, status: 'available' };
  const ofClient: Fields<client.Pet> = pet;
  expect(ofClient satisfies Fields<contract.Pet>).toBe(pet);
});
