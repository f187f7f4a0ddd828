import '/work/main/test/simulation/machine.ts';
const { createScopes } = await import('/work/main/test/simulation/creates.ts');
const { runSchedule, runAllSchedules } = await import('/work/main/test/simulation/schedules.ts');
for (const [name, scope] of Object.entries(createScopes)) {
  if (process.argv[2] && !name.includes(process.argv[2])) continue;
  const first = await runSchedule(scope as any, []);
  console.log(name, first.options.length, first.options.join(' '));
  if (first.counterExample) { console.log(first.counterExample.message); console.log(first.counterExample.lines.join('\n')); continue; }
  const start = performance.now();
  const { count, counterExample } = await runAllSchedules(scope as any, Number(process.argv[3] ?? 1));
  console.log(count, 'schedules', Math.round(performance.now() - start), 'ms');
  if (counterExample) console.log(counterExample.schedule.join('.'), counterExample.message, '\n' + counterExample.lines.join('\n'));
}
