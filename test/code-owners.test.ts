import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { allFiles } from './support/project-copy.ts';

// https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
const rules = readFileSync('.github/CODEOWNERS', 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split(' '));

/** Returns whether a pattern applies to a file. Patterns that start with a slash apply only at the root. */
function appliesTo(pattern: string, file: string): boolean {
  const glob = `${pattern.startsWith('/') ? pattern.slice(1) : `**/${pattern}`}${pattern.endsWith('/') ? '**' : ''}`;
  return matchesGlob(file, glob);
}

const deciding =
  /^(?:\.github|\.ci|infra|shared|docs\/policies|docs\/runbook)\/|^cdk\.json$|(?:^|\/)(?:package(?:-lock)?\.json|\.npmrc)$/;

test('every file that decides what is deployed, and with which permissions, has a code owner', () => {
  const files = allFiles().filter((file) => deciding.test(file));
  const unowned = files.filter((file) => !rules.some(([pattern]) => appliesTo(pattern!, file)));
  expect(unowned).toEqual([]);
  // A later rule without an owner would remove the owner of the files that it matches.
  expect(rules.filter(([, ...owners]) => owners.length !== 1)).toEqual([]);
  const unused = rules.filter(([pattern]) => !files.some((file) => appliesTo(pattern!, file)));
  expect(unused).toEqual([]);
});
