import { expect, test } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { allFiles, copyProject } from '../local/project-copy.ts';

const folder = temporaryFolder();

// docs/decisions.md, "Settings of the SDK and rules of bundling", describes these two changes.
test('without the settings of the SDK and the rules of bundling, the functions pass their tests and the HTTP tests', async () => {
  const project = copyProject(folder, allFiles());
  project.write('shared/storage/sdk.ts', 'export const sdkSettings = {};\n');
  const bundling = project.read('infra/stack/bundling.ts');
  const unmodified = bundling.replace(/^ {2}plugins: .*\n/m, '');
  expect(unmodified).not.toBe(bundling);
  project.write('infra/stack/bundling.ts', unmodified);
  expect(await project.failureOf('npm run test:http && npm test -- test/functions')).toBe('');
});
