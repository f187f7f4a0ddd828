import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { done, runModule } from './support/run-command.ts';

const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** npm scripts that run a module of this project. */
const commands = Object.entries<string>(scripts).flatMap(([name, script]) => {
  const [, module] = /^node --require \S+ (\S+\.ts)$/.exec(script) ?? [];
  return module ? [{ command: name === 'start' ? 'npm start' : `npm run ${name}`, module }] : [];
});

// Some commands share files with tests. This fails if a command imports something that works only in Jest.
test.each(commands)('$command -- --help prints its usage', async ({ command, module }) => {
  expect(done(await runModule(module, ['--help']))).toContain(command);
});
