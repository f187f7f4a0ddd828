import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { done, runModule } from './support/run-command.ts';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));

/** The command and the module of each npm script that runs one of the project's modules. */
const commands = Object.entries<string>(scripts).flatMap(([name, script]) => {
  const [, module] = /^node --require \S+ (\S+\.ts)$/.exec(script) ?? [];
  return module ? [{ command: name === 'start' ? 'npm start' : `npm run ${name}`, module }] : [];
});

// Commands share some files with tests, so a command could import code that works only in Jest.
test.each(commands)('$command -- --help prints the usage', async ({ command, module }) => {
  expect(done(await runModule(module, ['--help']))).toContain(command);
});
