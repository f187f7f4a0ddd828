import { expect, test } from '@jest/globals';
import { changes, stagesWith } from '../support/changed-stages.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { allFiles, copyProject } from './local/project-copy.ts';

// A pipeline must be able to deploy each change that operators make in infra/stages.ts. These tests run only what reads
// the settings: the generator, the compiler, the tests that import them, and a test whose command imports them. All
// checks and tests would take a minute for each change, so adapt.proof.ts runs them once after all changes.

const project = copyProject(temporaryFolder(), allFiles());
const readers = 'infra/stages.ts test/infra/operate/deployed-stage.test.ts';
const related = `npm test -- --selectProjects unit --findRelatedTests ${readers}`;

test.each(Object.entries(changes))(
  'after a change of only %s, the code compiles and the related tests pass',
  async (_what, change) => {
    project.write('infra/stages.ts', stagesWith(change));
    expect(await project.failureOf(`npm run generate:contract && npx tsc && ${related}`)).toBe('');
  },
);
