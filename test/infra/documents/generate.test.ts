import { expect, test } from '@jest/globals';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { done, runModule } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { copyProject } from '../local/project-copy.ts';

const parent = temporaryFolder();

test('a new service can release its first contract', async () => {
  const { folder, read, write } = copyProject(parent);
  rmSync(join(folder, 'docs/openapi-released.json'));
  const today = new Date().toISOString().slice(0, 10);
  write('docs/changelog.md', `# Changelog\n\n## ${today}\n\n- First release.\n`);
  const stdout = done(await runModule(join(folder, 'infra/documents/generate.ts'), ['--release']));
  expect(stdout).toBe('Wrote docs/openapi-released.json.\n');
  expect(read('docs/openapi-released.json')).toBe(read('openapi.json'));
});
