import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { commandEnvironment, outcomeOf } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { allFiles, copyProject } from './local/project-copy.ts';

// Operators change infra/stages.ts, and a pipeline must then deploy the change. These tests make such changes in a copy
// of the project. They start from the settings of the tests, so that they do not depend on the present settings.

const project = copyProject(temporaryFolder(), allFiles());
const unchanged = readFileSync('test/support/stages.ts', 'utf8').replace('../../infra/', './');

const changes: Record<string, (text: string) => string> = {
  'another stage': (text) => text.replace(/^  staging: (.*)\n/m, '$&  preview: $1\n'),
  alarmEmail: (text) => text.replace('alarmEmail: null', "alarmEmail: 'operators@example.com'"),
  domain: (text) =>
    text.replaceAll(/(\w+): \{\s+\.\.\.common,/g, "$& domain: { ...domain, name: '$1.example.com' },"),
  listPartitions: (text) => text.replace('listPartitions: 1', 'listPartitions: 4'),
  deploysByCanary: (text) => text.replace('deploysByCanary: true', 'deploysByCanary: false'),
  authorizerCacheSeconds: (text) => text.replace('CacheSeconds: 60', 'CacheSeconds: 30'),
  logRetentionDays: (text) => text.replaceAll(/logRetentionDays: \d+/g, 'logRetentionDays: 180'),
  firewall: (text) => text.replace(/^ *firewall: .*\n/m, ''),
};

/** Returns the output of the commands that fail in the copy of the project after `change`. */
async function failuresAfter(change: (text: string) => string, commands: string[]): Promise<string[]> {
  if (change(unchanged) === unchanged)
    return ['The change finds nothing to replace in test/support/stages.ts.'];
  project.write('infra/stages.ts', change(unchanged));
  // The tests in the copy must not use the synthesis of this run, which was made before the change.
  const { TEST_RUN_FOLDER: _folder, ...env } = commandEnvironment({});
  const failures = [];
  for (const command of commands) {
    const [program, ...parameters] = command.split(' ');
    const options = { cwd: project.folder, env, maxBuffer: Infinity };
    const { code, stdout, stderr } = await outcomeOf(promisify(execFile)(program!, parameters, options));
    if (code !== 0) failures.push(`${command}\n${stdout}${stderr}`);
  }
  return failures;
}

const changeAll = (text: string) => Object.values(changes).reduce((changed, change) => change(changed), text);

const unitTests = 'npm test -- --selectProjects unit';

test('all checks and unit tests pass after all changes', async () => {
  const commands = ['npx oxfmt infra/stages.ts', 'npm run generate', 'npm run check', unitTests];
  expect(await failuresAfter(changeAll, commands)).toEqual([]);
});

// A failure after one change can disappear with the other changes. For example, the compiler derives types from the
// settings. All checks and tests would take a minute for each change, so these tests run only what reads the settings:
// the generator, the compiler, the tests that import the settings, and a test whose command imports them.
const related = `${unitTests} --findRelatedTests infra/stages.ts test/infra/operate/deployed-stage.test.ts`;

test.each(Object.entries(changes))(
  'the code compiles and its related tests pass after a change of only %s',
  async (_what, change) => {
    expect(await failuresAfter(change, ['npm run generate:contract', 'npx tsc', related])).toEqual([]);
  },
);
