import { expect, test } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { allFiles, copyProject } from '../local/project-copy.ts';

const folder = temporaryFolder();

// docs/decisions.md, "SDK settings and bundling plugins", describes the settings and plugins that this test removes.
test('the functions pass their tests and the HTTP tests without SDK settings and bundling plugins', async () => {
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
