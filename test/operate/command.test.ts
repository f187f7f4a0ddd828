import { describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { done, errorOutput, runModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const start = 'infra/local/main.ts';
const keys = 'infra/operate/keys.ts';
const docs = 'infra/openapi/export.ts';

// `npm start -- --port 1` passes `--port 1` to the command, without the two dashes. Yarn and `pnpm start --port 1` do the
// same, but `pnpm start -- --port 1` also passes the two dashes, so the commands ignore them.
test.each([
  [
    start,
    ['--', '--stage', 'none'],
    /^infra\/stages\.ts contains no stage none\. Choose one of its stages: /,
  ],
  [keys, ['--', 'lost', '--stage', 'local'], /^The action must be /],
])('%s accepts the two dashes that pnpm passes to it', async (command, parameters, message) => {
  expect(errorOutput(await runModule(command, parameters))).toMatch(message);
});

test('npm start --port 1 is rejected with a message about the missing dashes', async () => {
  expect(errorOutput(await runModule(start, ['1'], { npm_config_port: 'true' }))).toMatch(
    /^npm read --port itself, because two dashes are missing before the options\. Usage: npm start -- \[--stage STAGE\] \[--port 3000\] /,
  );
});

test.each([
  [start, ['--stage', '']],
  [start, ['--port=']],
  [start, ['--data', '']],
  [start, ['--assembly', '']],
  [start, ['--inspect', '']],
  [keys, ['list', '--stage', '']],
  [keys, ['list', '--stage', 'local', '--data=']],
  ['infra/operate/smoke.ts', ['--stage', '']],
  [docs, ['--output', '']],
])('%s %j is rejected because of its empty value', async (command, parameters) => {
  const name = parameters.findLast((parameter) => parameter.startsWith('--'))!.replace('=', '');
  const settings = { AWS_REGION: 'eu-central-1' };
  expect(errorOutput(await runModule(command, parameters, settings))).toBe(
    `${name} has an empty value. To see all options, append --help.`,
  );
});

const home = temporaryFolder();

describe('a path that starts with a tilde', () => {
  writeFileSync(join(home, 'file'), '');
  const AWS_REGION = 'eu-central-1';

  test.each([
    [start, ['--port', '0', '--data=~/file'], 'HOME/file is a file. Choose a folder with --data.'],
    [
      start,
      ['--stage', 'none', '--data', '~', '--assembly=~/x'],
      'The folder HOME/x does not exist. Choose a folder with --assembly.',
    ],
    [
      keys,
      ['list', '--stage', 'local', '--data=~/x'],
      'No local service is running with the data folder HOME/x. ',
    ],
    [docs, ['--output=~/file'], 'HOME/file cannot be written: '],
  ])('is in the home folder: %s %j', async (command, parameters, message) => {
    const ended = await runModule(command, parameters, { AWS_REGION, HOME: home, USERPROFILE: home });
    expect(errorOutput(ended).replaceAll(home, 'HOME')).toContain(message);
  });

  test("must not name another user's home folder", async () => {
    expect(errorOutput(await runModule(start, ['--data', '~jane/x']))).toBe(
      '--data must not start with ~jane, because ~ is expanded only for your home folder. Write the full path.',
    );
  });
});

test.each([[start], [keys, 'list'], [docs]])(
  '%s --help says where relative paths start',
  async (command, ...action) => {
    expect(done(await runModule(command, [...action, '--help']))).toContain(
      'Relative paths start in the folder of the project.',
    );
  },
);

test('a full disk is reported in one line', async () => {
  const fault = `
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    fs.writeFileSync = () => { throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' }); };
    syncBuiltinESMExports();`;
  const settings = {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}`,
    CDK_OUTDIR: join(home, 'cdk.out'),
    CDK_CONTEXT_JSON: '{"unchecked":true}',
  };
  expect(errorOutput(await runModule('infra/app.ts', [], settings))).toBe(
    'The disk is full (ENOSPC: no space left on device). Free disk space, and run the command again.',
  );
});
