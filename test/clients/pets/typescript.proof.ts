import { beforeAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type * as client from '../../../docs/clients/pets.ts';
import type * as contract from '../../../shared/contract/pets.ts';
import { sharedCompileCache } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { hasTools, toolModules } from '../../support/tools.ts';
import { fileOf, wrongUses } from './example-clients.ts';
import { validPet } from './sample.ts';

// These tests compile the TypeScript client and its example in projects that `tsc --init` creates.

const parent = temporaryFolder();
/** Folders of TypeScript 7, which the project uses, and of TypeScript 5. */
const compilers = { 7: resolve('node_modules'), 5: toolModules };
/** The example as docs/clients/pets.md says to write it for `tsc`. */
const example = fileOf('try.ts').replace(`'./pets.ts'`, `'./pets.js'`);

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
      writeFileSync(join(folder, 'pets.ts'), fileOf('pets.ts'));
      writeFileSync(join(folder, 'try.ts'), example);
      run(folder, ...compile, '--init');
    });

    test('the client and its example compile, and the result runs', () => {
      const { stdout, status } = run(folder, ...compile);
      expect({ stdout, status }).toEqual({ stdout: '', status: 0 });
      expect(run(folder, 'try.js').stderr).toContain('The base URL must be');
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

// If a field or value of the contract is missing in the client, or the other way around, these functions do not compile.
const toContract = (pet: Fields<client.Pet>): Fields<contract.Pet> => pet;
const toClient = (pet: Fields<contract.Pet>): Fields<client.Pet> => pet;

test('the client has the fields and values of the contract', () => {
  const pet = { id: 1n, ...validPet };
  expect(toClient(toContract(pet))).toBe(pet);
});
