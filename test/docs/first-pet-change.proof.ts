import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { codeBlocksIn, withChanges } from '../support/markdown-code.ts';
import { copyProject, allParts } from '../support/project-copy.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const page = readFileSync('CONTRIBUTING.md', 'utf8');
const [, section = ''] = /^## Your first change$([^]*?)^## /m.exec(page) ?? [];
const TEST_OF_TAG = "npm test -- test/http/create-pet -t 'stores a tag'";

test('the first change in CONTRIBUTING.md has the described effects', async () => {
  for (const command of [TEST_OF_TAG, 'npm run generate', 'npm run check'])
    expect(section.replaceAll(/\s+/g, ' ')).toContain(`\`${command}\``);

  const project = copyProject(folder, allParts());
  for (const { info, code } of codeBlocksIn(section)) {
    const [kind, file] = info.split(' ') as [string, string?];
    if (kind === 'diff') project.write(file!, withChanges(project.read(file!), code));
  }
  expect(await project.failureOf(TEST_OF_TAG)).toContain('The request or response contradicts openapi.json');
  expect(await project.failureOf(`npm run generate && ${TEST_OF_TAG}`)).toBe('');
  const failure = await project.failureOf('npm run check');
  const files = failure.match(/test\/[\w/.-]+\.ts(?=.*Property 'tag' is missing)/g) ?? [];
  expect(new Set(files)).toEqual(new Set(['test/clients/pets/typescript.proof.ts']));
});
