import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { temporaryFolder } from './support/temporary-folder.ts';

const forbidden = [
  ['functions/a.ts', './b.ts'],
  ['functions/b.ts', '../infra/stages.ts'],
  ['functions/c.ts', '../shared/runtime/request.ts'],
  ['infra/app.ts', '@aws-sdk/client-dynamodb'],
  ['infra/documents/a.ts', '../operate/a.ts'],
  ['infra/local/a.ts', '../operate/a.ts'],
  ['infra/local/b.ts', '../stack/api.ts'],
  ['infra/local/emulator/a.ts', '../local-service.ts'],
  ['infra/local/emulator/gateway/b.ts', '../../local-service.ts'],
  ['infra/operate/keys/a.ts', '../../local/service.ts'],
  ['infra/settings.ts', './stack/api.ts'],
  ['infra/stack/a.ts', '../../shared/storage/a.ts'],
  ['infra/stack/b.ts', '@middy/core'],
  ['shared/contract/b.ts', '@aws-sdk/client-dynamodb'],
  ['shared/names.ts', './storage/a.ts'],
  ['shared/runtime/a.ts', '../../functions/a.ts'],
  ['shared/runtime/b.ts', '@aws-sdk/client-dynamodb'],
  ['shared/storage/a.ts', '../runtime/endpoint.ts'],
  ['shared/storage/b.ts', 'aws-cdk-lib/aws-iam'],
];
// A cycle that consists of an import of a value and an import of a type.
const cycle = {
  'shared/storage/one.ts': `import { b } from './other.ts';\nexport const a = b;\n`,
  'shared/storage/other.ts': `import type { a } from './one.ts';\nexport const b = (one: typeof a) => one;\n`,
};

const folder = temporaryFolder();

test('oxlint rejects imports that the rules for a folder forbid, and cyclic imports', () => {
  const rules = readFileSync('.oxlintrc.json', 'utf8').replace('"typeAware": true', '"typeAware": false');
  writeFileSync(join(folder, '.oxlintrc.json'), rules);
  const importing = forbidden.map(([file, name]) => [file, `import '${name}';\n`]);
  for (const [file, text] of [...importing, ...Object.entries(cycle)]) {
    mkdirSync(join(folder, dirname(file!)), { recursive: true });
    writeFileSync(join(folder, file!), text!);
  }
  const oxlint = [resolve('node_modules/oxlint/bin/oxlint'), '--format=unix'];
  const { stdout } = spawnSync(process.execPath, oxlint, { cwd: folder, encoding: 'utf8' });
  const pattern = /^(.+?):1:1: '(.+)' import is restricted/gm;
  const rejected = Array.from(stdout.matchAll(pattern), ([, ...both]) => both);
  expect(new Set(rejected)).toEqual(new Set(forbidden));
  expect(stdout.match(/^shared\/storage\/(?:one|other)\.ts:.*cycle/gm)).toHaveLength(2);
});
