import { expect, test } from '@jest/globals';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { COMPLETE_RUN_LIMIT_MILLISECONDS } from '../../support/limits.ts';
import { blockWith } from '../../support/markdown-code.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { copyRepository } from '../../support/project-copy.ts';

const folder = temporaryFolder();
const document = readFileSync('docs/decisions.md', 'utf8');

// docs/decisions.md, "SDK settings and bundling plugins", prints the new contents of two files, and names the test file
// that goes with them.
test(
  'without the SDK settings and bundling plugins, npm run check passes, and so does npm test without plugins.test.ts',
  async () => {
    const project = await copyRepository(folder);
    project.write('shared/storage/sdk.ts', blockWith('sdkSettings: object = {}', document));
    project.write('infra/stack/plugins.ts', blockWith('plugins = []', document));
    rmSync(join(project.folder, 'test/infra/stack/plugins.test.ts'));
    const script = 'npm run check && npm test';
    expect(await project.failureOf(script)).toBe('');
  },
  COMPLETE_RUN_LIMIT_MILLISECONDS,
);
