import { expect, test } from '@jest/globals';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { runModule } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { copyProject } from '../local/watch/project-copy.ts';

const parent = temporaryFolder();

test('a service of your own can release its first contract', async () => {
  const { folder, read, write } = copyProject(parent);
  rmSync(join(folder, 'docs/openapi-released.json'));
  const release = () => runModule(join(folder, 'infra/documents/generate.ts'), ['--release']);
  write('docs/changelog.md', '# Changelog\n');
  expect((await release()).stderr).toMatch(/^docs\/changelog\.md must list the changes\. Add a list under/);
  const today = new Date().toISOString().slice(0, 10);
  write('docs/changelog.md', `# Changelog\n\n## ${today}\n\n- First release.\n`);
  expect(await release()).toMatchObject({ code: 0, stdout: 'Wrote docs/openapi-released.json.\n' });
  expect(read('docs/openapi-released.json')).toBe(read('openapi.json'));
});
