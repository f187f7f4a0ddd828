import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { done, runModule } from './support/run-command.ts';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));

/** The command and the module of each npm script that runs one of the project's modules. */
const commands = Object.entries<string>(scripts).flatMap(([name, script]) => {
  const [, module] = /^node --require \S+ (\S+\.ts)$/.exec(script) ?? [];
  return module ? [{ command: name === 'start' ? 'npm start' : `npm run ${name}`, module }] : [];
});

// Runs each command outside Jest, because commands share files with tests and could import code that needs Jest.
test.each(commands)('$command -- --help prints the usage', async ({ command, module }) => {
  expect(done(await runModule(module, ['--help']))).toContain(command);
});
