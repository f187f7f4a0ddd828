import { randomInt } from 'node:crypto';
import { integerOption, runWithOptions, UsageError } from '../../infra/command.ts';
import { runAllSchedules, runRandomSchedules, runSchedule, type Result, type Scope } from './schedules.ts';
import { scopes } from './scopes.ts';

const USAGE = `npm run simulate -- [--scope NAME] [--deviations 1] [--minutes 5] [--seed N]

Runs the service's code with a simulated DynamoDB, and with clocks, timers and random numbers that a schedule controls. First
runs all schedules in which up to --deviations decisions differ from what usually happens, and then random schedules. If a
promise does not hold, prints the shortest schedule that was found, and fails.

  --scope       the start of the names of the scopes to run (default: all)
  --deviations  the number of these decisions, from 0 to 3. Each additional one takes about 100 times as long.
  --minutes     the time for random schedules
  --seed        the number that determines the random schedules (default: random)
  --schedule    a schedule that the command has printed, such as 0.0.3. Requires --scope.

Scopes:

${Object.keys(scopes)
  .map((name) => `  ${name}`)
  .join('\n')}`;

const options = {
  scope: { type: 'string', default: '' },
  deviations: { type: 'string', default: '1' },
  minutes: { type: 'string', default: '5' },
  seed: { type: 'string' },
  schedule: { type: 'string' },
} as const;

/** Returns a function that prints the progress on one line of a terminal, at most five times a second. */
function progressOf(what: string): (count: number) => void {
  let printed = 0;
  return (count) => {
    const now = performance.now();
    if (!process.stderr.isTTY || now - printed < 200) return;
    printed = now;
    process.stderr.write(`\r\x1b[K${what}: ${count} schedules`);
  };
}

/** Prints a result. Returns whether all promises held. */
function printResult(what: string, name: string, { count, counterExample }: Result): boolean {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  console.log(`${name}: ${count.toLocaleString('en')} ${what}`);
  if (!counterExample) return true;
  const { schedule, message, lines } = counterExample;
  console.log(`\n${message}\n\n${lines.join('\n')}\n`);
  console.log(`To replay: npm run simulate -- --scope '${name}' --schedule ${schedule.join('.') || 0}`);
  return false;
}

function scheduleOption(text: string): number[] {
  if (/^\d{1,4}(\.\d{1,4})*$/.test(text)) return text.split('.').map(Number);
  throw new UsageError('--schedule must be numbers with dots between them, such as 0.0.3.');
}

async function simulate(selected: [string, Scope][], deviations: number, minutes: number, seed: number) {
  for (const [name, scope] of selected) {
    const result = await runAllSchedules(scope, deviations, progressOf(name));
    if (!printResult('schedules', name, result)) return false;
  }
  if (minutes === 0) return true;
  console.log(`Random schedules with the seed ${seed}:`);
  for (const [name, scope] of selected) {
    const milliseconds = (minutes * 60_000) / selected.length;
    const result = await runRandomSchedules(scope, seed, milliseconds, progressOf(name));
    if (!printResult('random schedules', name, result)) return false;
  }
  return true;
}

await runWithOptions(USAGE, options, async (values) => {
  const matching = Object.entries(scopes).filter(([name]) => name.startsWith(values.scope));
  const exact = matching.filter(([name]) => name === values.scope);
  const selected = exact.length > 0 ? exact : matching;
  if (selected.length === 0)
    throw new UsageError(
      `--scope must be the start of one of these names: ${Object.keys(scopes).join('; ')}.`,
    );
  const seed = integerOption('--seed', values.seed ?? `${randomInt(2 ** 31)}`, 0, 2 ** 31 - 1);
  if (values.schedule !== undefined) {
    const schedule = scheduleOption(values.schedule);
    if (selected.length > 1) throw new UsageError('--schedule requires --scope with the name of one scope.');
    const [name, scope] = selected[0]!;
    const result = { count: 1, ...(await runSchedule(scope, schedule)) };
    if (!printResult('schedule', name, result)) process.exitCode = 1;
    return;
  }
  const deviations = integerOption('--deviations', values.deviations, 0, 3);
  const minutes = integerOption('--minutes', values.minutes, 0, 10_000);
  if (!(await simulate(selected, deviations, minutes, seed))) process.exitCode = 1;
});
