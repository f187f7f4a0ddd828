import { expect, test } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { allFiles, copyProject } from '../local/project-copy.ts';

const folder = temporaryFolder();

// docs/decisions.md, "Settings of the SDK and rules of bundling", describes these two changes.
test('without the settings of the SDK and the rules of bundling, the functions pass their tests and the HTTP tests', async () => {
  const project = copyProject(folder, allFiles());
  const parts: [file: string, removed: RegExp][] = [
    ['shared/storage/sdk.ts', /(?<=sdkSettings = \{)[^]*(?=\})/],
    ['infra/stack/bundling.ts', /^ {2}plugins: .*\n/m],
  ];
  for (const [file, removed] of parts) {
    const text = project.read(file);
    expect(text).toMatch(removed);
    project.write(file, text.replace(removed, ''));
  }
  expect(await project.failureOf('npm run test:http && npm test -- test/functions')).toBe('');
});
