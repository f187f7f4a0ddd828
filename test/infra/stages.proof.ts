import { expect, test } from '@jest/globals';
import { changes, stagesWith } from '../support/changed-stages.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { allFiles, copyProject } from './local/project-copy.ts';

// Operators change infra/stages.ts, and a pipeline must then deploy the change. All checks and tests would take a minute
// for each change, so these tests run only what reads the settings: the generator, the compiler, the tests that import
// the settings, and a test whose command imports them. Another proof runs everything after all changes.

const project = copyProject(temporaryFolder(), allFiles());
const readers = 'infra/stages.ts test/infra/operate/deployed-stage.test.ts';
const related = `npm test -- --selectProjects unit --findRelatedTests ${readers}`;

test.each(Object.entries(changes))(
  'the code compiles and its related tests pass after a change of only %s',
  async (_what, change) => {
    project.write('infra/stages.ts', stagesWith(change));
    expect(await project.failureOf(`npm run generate:contract && npx tsc && ${related}`)).toBe('');
  },
);
