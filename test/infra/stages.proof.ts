import { expect, test } from '@jest/globals';
import { changes, stagesWith } from '../support/changed-stages.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { copyRepository } from '../support/project-copy.ts';

// Operators must be able to deploy a change of infra/stages.ts without changing other files. These tests run the
// generator, the compiler and the tests that load the settings.

const project = await copyRepository(temporaryFolder());
const readers = 'infra/stages.ts test/infra/operate/deployed-stage.test.ts';
const related = `npm test -- --selectProjects unit --findRelatedTests ${readers}`;

const { firewall: removeFirewall, ...others } = changes;

// Each run takes half a minute, so all changes except the removal of the firewall are made together.
test.each([
  ['all other changes that tests know', Object.values(others)],
  ['the removal of the firewall', [removeFirewall!]],
])(
  'the code compiles and the related tests pass after this change of infra/stages.ts: %s',
  async (_what, made) => {
    project.write('infra/stages.ts', stagesWith(...made));
    expect(await project.failureOf(`npm run generate && npx tsc && ${related}`)).toBe('');
  },
);
