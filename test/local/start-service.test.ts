import { afterAll, describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keyPrefix } from '../../shared/api-keys.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { productName } from '../../shared/names.ts';
import { firstCollection } from '../collections/all.ts';
import { startLocalService } from '../support/local-service.ts';
import { errorOutput, runModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const { path, newItem } = firstCollection;
const data = temporaryFolder();
const keyFile = join(data, 'api-key');
const serviceFile = join(data, 'service.json');
/** API key whose hash is not in the tables. */
const LOST_KEY = `${keyPrefix('staging')}${'0'.repeat(36)}`;

writeFileSync(keyFile, LOST_KEY);
writeFileSync(serviceFile, '{}');
// These are a developer's AWS settings for other projects, which the local service must ignore.
Object.assign(process.env, {
  AWS_PROFILE: 'work',
  AWS_REGION: 'eu-west-1',
  AWS_SESSION_TOKEN: 'token',
  AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
});
let service = await startLocalService('--data', data, '--verbose');
const banner = service.output();
afterAll(() => service.stop('SIGKILL'));

// Each test depends on the previous test, so a single test cannot run alone.
describe('the local service with a data folder', () => {
  let item: unknown;

  test('issues a new key if the tables lack the key in the folder, and protects its files from other users', async () => {
    expect(service.apiKey).not.toBe(LOST_KEY);
    expect(readFileSync(keyFile, 'utf8')).toBe(service.apiKey);
    for (const file of [keyFile, serviceFile]) expect(statSync(file).mode.toString(8)).toBe('100600');
    expect(banner).toContain(`Bearer ${service.apiKey}' ${service.baseUrl}${path}\n`);
    const init = { method: 'POST', body: stringifyJson(newItem('a text')) };
    const response = await service.request(path, init);
    expect(response.status).toBe(201);
    item = await response.json();
  });

  test('prints one line for each request, without the query or the API key', async () => {
    await service.request(`${path}?limit=1000`);
    await service.request(path, { method: 'POST' });
    await service.request('/nowhere', { method: 'PUT' });
    await service.request(path, { headers: { Authorization: `Bearer ${service.apiKey}x` } });
    await service.printed(/ 401 \d/);
    const printed = service.output().slice(banner.length);
    expect(printed.match(/(?<=^\S+Z )\S+ \S+ \d+(?= \d+\.\d ms$)/gm)).toEqual([
      `POST /v1${path} 201`,
      `GET /v1${path} 400`,
      `POST /v1${path} 400`,
      'PUT /v1/nowhere 404',
      `GET /v1${path} 401`,
    ]);
    expect(printed).not.toContain(service.apiKey.slice(0, 20));
    expect(printed).not.toMatch(/limit|Bearer|local development/);
  });

  test('lists the resource types that it does not run if --verbose is set', () => {
    const [list = ''] = /\nNot run locally:\n(?:  \S+\n)+\n/.exec(service.output()) ?? [];
    expect(list).toContain('\n  AWS::CloudWatch::Alarm\n');
    expect(list).toContain('\n  AWS::Lambda::Permission\n');
    expect(list).not.toContain('AWS::Lambda::Function\n');
  });

  test('serves the OpenAPI document, which names the service, at the URL that it prints', async () => {
    const [, url = ''] = /Import (\S+)/.exec(banner)!;
    const { info, servers } = (await (await fetch(url)).json()) as any;
    expect(info.title).toBe(productName);
    expect(servers).toEqual([expect.objectContaining({ url: service.baseUrl })]);
  });

  test('keeps the data and the API key after a restart', async () => {
    const { apiKey } = service;
    expect(await service.stop('SIGTERM')).toBe(0);
    expect(existsSync(serviceFile)).toBe(false);

    service = await startLocalService('--data', data);
    expect(service.apiKey).toBe(apiKey);
    expect(await (await service.request(path)).json()).toEqual([item]);
  });

  test('is not found by operator commands after it is killed', async () => {
    await service.stop('SIGKILL');
    expect(existsSync(serviceFile)).toBe(true);
    const parameters = ['list', '--stage', 'local', '--data', data];
    expect(errorOutput(await runModule('infra/operate/keys.ts', parameters))).toBe(
      `No local service is running with the data folder ${data}. Run npm start -- --data ${data}.`,
    );
  });
});
