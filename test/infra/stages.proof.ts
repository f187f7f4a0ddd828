import { expect, test } from '@jest/globals';
import { changes, stagesWith } from '../support/changed-stages.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { copyRepository } from '../support/project-copy.ts';

// Operators must be able to deploy a change of infra/stages.ts without changing other files. For each change, these
// tests run only the generator, the compiler and the tests that load the settings. All checks and tests take a minute,
// so they run once, after all changes.

const project = await copyRepository(temporaryFolder());
const readers = 'infra/stages.ts test/infra/operate/deployed-stage.test.ts';
const related = `npm test -- --selectProjects unit --findRelatedTests ${readers}`;

test.each(Object.entries(changes))(
  'the code compiles and the related tests pass after this change of infra/stages.ts: %s',
  async (_what, change) => {
    project.write('infra/stages.ts', stagesWith(change));
    expect(await project.failureOf(`npm run generate && npx tsc && ${related}`)).toBe('');
  },
);

test('all checks and tests pass after all of these changes together', async () => {
  project.write('infra/stages.ts', stagesWith(...Object.values(changes)));
  expect(await project.failureOf('npm run format && npm run generate && npm run check && npm test')).toBe('');
});
