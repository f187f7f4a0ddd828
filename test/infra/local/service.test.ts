import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyPrefix } from '../../../shared/contract/authorization.ts';
import { stackName } from '../../../shared/names.ts';
import { readTemplate } from '../../../infra/local/emulator/template/template.ts';
import { TEMPORARY_PREFIX } from '../../../infra/local/local-service.ts';
import { sharedSynthesis } from '../../support/assembly.ts';
import { type LocalService, startLocalService } from '../../support/local-service.ts';
import { errorOutput, runModule } from '../../support/run-command.ts';
import { collection, itemsPath, validBody } from '../../support/sample.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const data = temporaryFolder();
const keyFile = join(data, 'api-key');
const serviceFile = join(data, 'service.json');
/** API key whose hash is not in the tables. */
const LOST_KEY = `${keyPrefix('staging')}${'0'.repeat(36)}`;

function withKey(apiKey: string): RequestInit {
  return { headers: { Authorization: `Bearer ${apiKey}` } };
}

function addItem(service: LocalService): Promise<Response> {
  return service.request(itemsPath, { method: 'POST', body: JSON.stringify(validBody) });
}

// Each test depends on the previous test.
describe('the local service with a data folder', () => {
  let service: LocalService;
  let banner: string;
  let item: unknown;

  beforeAll(async () => {
    writeFileSync(keyFile, LOST_KEY);
    writeFileSync(serviceFile, '{}');
    // The service must ignore the developer's AWS settings.
    Object.assign(process.env, {
      AWS_PROFILE: 'work',
      AWS_REGION: 'eu-west-1',
      AWS_SESSION_TOKEN: 'token',
      AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true',
      AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
    });
    service = await startLocalService('--data', data, '--verbose');
    banner = service.output();
  });
  afterAll(() => service.stop('SIGKILL'));

  test('issues a new key if the tables lack the previous key, and lets only its user read the file', async () => {
    expect(service.apiKey).not.toBe(LOST_KEY);
    expect(readFileSync(keyFile, 'utf8')).toBe(service.apiKey);
    for (const file of [keyFile, serviceFile]) expect(statSync(file).mode.toString(8)).toBe('100600');
    expect(banner).toContain(`Bearer ${service.apiKey}' ${service.baseUrl}${itemsPath}\n`);
    const response = await addItem(service);
    expect(response.status).toBe(201);
    item = await response.json();
  });

  test('prints one line without the API key for each request', async () => {
    await service.request(`${itemsPath}?limit=1000`);
    await service.request(itemsPath, { method: 'POST' });
    await service.request('/nowhere', { method: 'PUT' });
    await service.request(itemsPath, withKey(`${service.apiKey}x`));
    await service.printed(/ 401 \d/);
    const printed = service.output().slice(banner.length);
    expect(printed.match(/(?<=^\S+Z )\S+ \S+ \d+(?= \d+\.\d ms$)/gm)).toEqual([
      `POST ${collection} 201`,
      `GET ${collection} 400`,
      `POST ${collection} 400`,
      'PUT /v1/nowhere 404',
      `GET ${collection} 401`,
    ]);
    expect(printed).not.toContain(service.apiKey.slice(0, 20));
    expect(printed).not.toMatch(/limit|Bearer|local development/);
  });

  test('lists skipped resource types if --verbose is set', async () => {
    const { skippedTypes } = readTemplate(stackName('staging'), (await sharedSynthesis()).assembly);
    expect(skippedTypes).toContain('AWS::CloudWatch::Alarm');
    const list = `\nNot run locally:\n${skippedTypes.map((type) => `  ${type}\n`).join('')}\n`;
    expect(service.output()).toContain(list);
  });

  test('keeps the data and the API key after a restart', async () => {
    const { apiKey } = service;
    expect(await service.stop('SIGTERM')).toBe(0);
    expect(existsSync(serviceFile)).toBe(false);

    service = await startLocalService('--data', data);
    expect(service.apiKey).toBe(apiKey);
    expect(await (await service.request(itemsPath)).json()).toEqual([item]);
  });

  test('is not found by operator commands after it is killed', async () => {
    await service.stop('SIGKILL');
    expect(existsSync(serviceFile)).toBe(true);
    const parameters = ['list', '--stage', 'local', '--data', data];
    expect(errorOutput(await runModule('infra/operate/keys/main.ts', parameters))).toBe(
      `No local service is running with the data folder ${data}. Start one with npm start.`,
    );
  });
});

describe('the in-memory local service for the production stage', () => {
  let service: LocalService;
  beforeAll(async () => {
    service = await startLocalService('--stage', 'production');
  });
  afterAll(() => service.stop('SIGKILL'));

  function workingKeyFiles(): string[] {
    const keys = globSync(join(tmpdir(), `${TEMPORARY_PREFIX}*`, 'api-key'));
    return keys.filter((file) => readFileSync(file, 'utf8') === service.apiKey);
  }

  test('completes all requests and deletes its files after receiving SIGINT and SIGTERM', async () => {
    expect(service.apiKey).toMatch(new RegExp(`^${keyPrefix('production')}`));
    expect(workingKeyFiles()).toHaveLength(1);
    const ended = once(service.process, 'close');
    await service.request(`${itemsPath}?limit=1000`); // writes a metric
    async function addUntilClosed(): Promise<number> {
      for (let added = 0; ; added += 1) {
        const response = await addItem(service).catch(() => undefined);
        if (!response) return added;
        expect(response.status).toBe(201);
        // Sends two signals, because after Ctrl-C in a terminal, npm can send a second signal.
        if (added === 2) for (const signal of ['SIGINT', 'SIGTERM'] as const) service.process.kill(signal);
      }
    }
    const added = await Promise.all(Array.from({ length: 10 }, addUntilClosed));
    expect(await ended).toEqual([0, null]);
    const created = service.output().split(`POST ${collection} 201`).slice(1);
    expect(created).toHaveLength(added.reduce((one, other) => one + other));
    expect(service.output()).not.toMatch(/exited with|Error|_aws|Not run|AWS::/);
    expect(workingKeyFiles()).toEqual([]);
  });
});
