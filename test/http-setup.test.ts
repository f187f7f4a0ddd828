import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { runModule } from './support/run-command.ts';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const [, ...words] = scripts['test:http'].split(' '); // without `node`

test.each([
  [
    'localhost:3000/v1',
    'BASE_URL must be an https URL, or an http URL with a loopback host, such as http://localhost:3000/v1.',
  ],
  ['http://127.0.0.1:2/v1/', 'http://127.0.0.1:2/v1 does not respond. Check BASE_URL.'],
])('npm run test:http rejects the base URL %s before the first test', async (BASE_URL, message) => {
  const [option, ...parameters] = [...words, 'test/http/paths'];
  const outcome = await runModule(option, parameters, { BASE_URL, API_KEY: 'unused' });
  expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining(`reason: ${message}\n`) });
  expect(outcome.stderr).not.toContain('●');
});
