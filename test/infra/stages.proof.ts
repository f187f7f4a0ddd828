import { expect, test } from '@jest/globals';
import { changes, stagesWith } from '../support/changed-stages.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { allFiles, copyProject } from './local/project-copy.ts';

// Operators must be able to deploy a change of infra/stages.ts without changing other files. For each change, these
// tests run only the generator, the compiler and the tests that load the settings. All checks and tests take a minute,
// so they run once, after all changes.

const project = copyProject(temporaryFolder(), allFiles());
const readers = 'infra/stages.ts test/infra/operate/deployed-stage.test.ts';
const related = `npm test -- --selectProjects unit --findRelatedTests ${readers}`;

test.each(Object.entries(changes))(
  'the code compiles and the related tests pass after this change of infra/stages.ts: %s',
  async (_what, change) => {
    project.write('infra/stages.ts', stagesWith(change));
    expect(await project.failureOf(`npm run generate:contract && npx tsc && ${related}`)).toBe('');
  },
);

test('all checks and tests pass after all of these changes together', async () => {
  project.write('infra/stages.ts', stagesWith(...Object.values(changes)));
  // Some tests search the files that Git tracks.
  const addToGit = 'git init --quiet && echo node_modules >> .git/info/exclude && git add --all';
  const check = 'npx oxfmt && npm run generate && npm run check && npm test';
  expect(await project.failureOf(`${addToGit} && ${check}`)).toBe('');
});
