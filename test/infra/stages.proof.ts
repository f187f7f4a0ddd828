import { expect, test } from '@jest/globals';
import { changes, stagesWith } from '../support/changed-stages.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { allFiles, copyProject } from './local/project-copy.ts';

// Operators must be able to deploy a change of infra/stages.ts without changing other files. For each change, these
// tests run only the generator, the compiler and the tests that load the settings, because all tests take a minute.

const project = copyProject(temporaryFolder(), allFiles());
const readers = 'infra/stages.ts test/infra/operate/deployed-stage.test.ts';
const related = `npm test -- --selectProjects unit --findRelatedTests ${readers}`;

test.each([
  ...Object.entries(changes).map(([what, change]): [string, string] => [what, stagesWith(change)]),
  ['all of these changes', stagesWith(...Object.values(changes))],
])(
  'the code compiles and the related tests pass after this change of infra/stages.ts: %s',
  async (_what, stages) => {
    project.write('infra/stages.ts', stages);
    expect(await project.failureOf(`npm run generate:contract && npx tsc && ${related}`)).toBe('');
  },
);
