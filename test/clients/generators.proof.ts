import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { stringifyJson } from '../../shared/contract/json.ts';
import { firstCollection } from '../collections/all.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { describeClientIn, follow, languages, prepare } from './generators.ts';

// These tests follow "Generated clients" in docs/clients.md in one empty folder, from one language to the next.

const { path, newItem } = firstCollection;
const folder = temporaryFolder();
let service: LocalService;
let newest: { id: number };

beforeAll(async () => {
  service = await startLocalService();
  // The programs request pages of one item, so two items make a second page.
  for (const name of ['Rex', 'Mia'])
    newest = await service.call(path, { method: 'POST', body: stringifyJson(newItem(name)) });
  await prepare(folder, new URL(service.baseUrl).origin, service);
});
afterAll(async () => {
  await service.stop();
});

for (const language of languages) {
  describeClientIn(language, () => {
    test('lists an item after the commands in docs/clients.md', async () => {
      const printed = await follow(language, folder, service);
      expect(printed).toMatch(/^\D*200 /);
      expect(printed).toContain(String(newest.id));
      expect(printed).toMatch(/rel=\\?"next/);
    });
  });
}

describeClientIn('TypeScript', () => {
  test('has types that fit the program', () => {
    const compile = 'tsc --noEmit --strict --module nodenext --allowImportingTsExtensions --types node';
    const parameters = [...compile.split(' '), '--typeRoots', resolve('node_modules/@types'), 'main.mts'];
    const { stdout } = spawnSync('npx', parameters, { cwd: join(folder, 'typescript'), encoding: 'utf8' });
    expect(stdout).toBe('');
  });
});
