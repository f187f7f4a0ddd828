import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { COMPLETE_RUN_LIMIT_MILLISECONDS } from '../support/limits.ts';
import { codeBlocksIn, withChanges } from '../support/markdown-code.ts';
import { allParts, copyProject } from '../support/project-copy.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// This test follows the two guides for resources in a copy of the project. It uses the code blocks of the guides.

// The guide to a service of one's own finds files with Git.
const COMMIT = `git init --quiet && echo node_modules >> .git/info/exclude && git add --all &&
  git -c user.name=Jane -c user.email=jane@example.com commit --quiet -m "Copy the pet store"`;
const FIND_PETS = "! git grep -IlE --untracked '[Pp]et|PET' -- functions shared infra";

const folder = temporaryFolder();

type Project = ReturnType<typeof copyProject>;

/** Creates the files of a guide, makes its changes, and runs its commands. Returns the output of failed commands. */
async function follow(project: Project, guide: string): Promise<string> {
  const failures: string[] = [];
  for (const { info, code } of codeBlocksIn(readFileSync(guide, 'utf8'))) {
    const [kind, target] = info.split(' ') as [string, string?];
    if (info === 'sh adapt') failures.push(await project.failureOf(code));
    else if (kind === 'diff') project.write(target!, withChanges(project.read(target!), code));
    else if (kind === 'ts') project.write(target!, code);
  }
  return failures.join('');
}

test(
  'a second resource can be added as docs/add-a-resource.md describes, and then replace pets as docs/adapt.md describes',
  async () => {
    const project = copyProject(folder, allParts());
    expect(await project.failureOf(COMMIT)).toBe('');
    expect(await follow(project, 'docs/add-a-resource.md')).toBe('');
    const commands = 'npm run format && npm run generate && npm run release:stacks && npm run check';
    expect(await project.failureOf(commands)).toBe('');
    expect(await project.failureOf('npm test')).toBe('');
    expect(await follow(project, 'docs/adapt.md')).toBe('');
    expect(await project.failureOf(FIND_PETS)).toBe('');
  },
  COMPLETE_RUN_LIMIT_MILLISECONDS,
);
