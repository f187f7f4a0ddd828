import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { COMPLETE_RUN_LIMIT_MILLISECONDS } from '../support/limits.ts';
import { codeBlocksIn, withChanges } from '../support/markdown-code.ts';
import { allParts, copyProject } from '../support/project-copy.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// These tests follow the pages for adopters in copies of the project, with the code blocks of their sections.

const page = readFileSync('docs/adapt.md', 'utf8');
const changeAndRemove = readFileSync('docs/change-and-remove.md', 'utf8');
const TEST_OF_TAG = "npm test -- test/http/create-pet -t 'stores a tag'";
const CHECKS = 'npm run format && npm run generate && npm run release:stacks && npm run check && npm test';
// The section about a service of one's own finds files with Git.
const COMMIT = `git init --quiet && echo node_modules >> .git/info/exclude && git add --all &&
  git -c user.name=Jane -c user.email=jane@example.com commit --quiet -m "Copy the pet store"`;
const FIND_PETS = "! git grep -IlE --untracked '[Pp]et|PET' -- functions shared infra test";

const folder = temporaryFolder();

type Project = ReturnType<typeof copyProject>;

const section = (title: string) => page.split(/^## /m).find((text) => text.startsWith(`${title}\n`))!;

/** Creates the files of a text, makes its changes, and runs its commands. Returns the output of failed commands. */
async function follow(project: Project, text: string, files = /./): Promise<string> {
  const failures: string[] = [];
  for (const { info, code } of codeBlocksIn(text)) {
    const [kind, target = ''] = info.split(' ') as [string, string?];
    if (info === 'sh adapt') failures.push(await project.failureOf(code));
    else if (kind === 'diff' && files.test(target))
      project.write(target, withChanges(project.read(target), code));
    else if (kind === 'ts') project.write(target, code);
  }
  return failures.join('');
}

test(
  'a field has the described effects, and a filter can be added after it',
  async () => {
    expect(page).toContain(TEST_OF_TAG);
    const project = copyProject(folder, allParts());
    await follow(project, section('A field'), /^(?:shared|test\/http)/);
    expect(await project.failureOf(TEST_OF_TAG)).toContain(
      'The request or response contradicts openapi.json',
    );
    expect(await project.failureOf(`npm run generate && ${TEST_OF_TAG}`)).toBe('');
    const failure = await project.failureOf('npm run check');
    const files = failure.match(/test\/[\w/.-]+\.ts(?=.*Property 'tag' is missing)/g) ?? [];
    expect(new Set(files)).toEqual(new Set(['test/clients/pets/typescript.proof.ts']));
    await follow(project, section('A field'), /^(?:docs|test\/clients)/);
    await follow(project, section('A filter'));
    expect(await project.failureOf(CHECKS)).toBe('');
  },
  COMPLETE_RUN_LIMIT_MILLISECONDS,
);

test(
  'pets can be changed and removed',
  async () => {
    const project = copyProject(folder, allParts());
    await follow(project, changeAndRemove);
    expect(await project.failureOf(CHECKS)).toBe('');
  },
  COMPLETE_RUN_LIMIT_MILLISECONDS,
);

test(
  'a second resource can be added, and then replace pets in a service of its own',
  async () => {
    const project = copyProject(folder, allParts());
    expect(await project.failureOf(COMMIT)).toBe('');
    await follow(project, section('A second resource'));
    expect(await project.failureOf(CHECKS)).toBe('');
    expect(await follow(project, section('A service of your own'))).toBe('');
    expect(await project.failureOf(FIND_PETS)).toBe('');
  },
  COMPLETE_RUN_LIMIT_MILLISECONDS,
);
