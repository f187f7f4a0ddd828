import './machine.ts';
const { createScopes } = await import("./creates.ts"); const { listScopes } = await import("./lists.ts"); const { keyScopes } = await import("./keys.ts");
const { runSchedule, runAllSchedules, runRandomSchedules } = await import('./schedules.ts');
for (const [name, scope] of Object.entries({...createScopes, ...listScopes, ...keyScopes})) {
  if (process.argv[2] && !name.includes(process.argv[2])) continue;
  const first = await runSchedule(scope as any, []);
  console.log(name, first.options.length, first.options.join(' '));
  if (first.counterExample) { console.log(first.counterExample.message); console.log(first.counterExample.lines.join('\n')); continue; }
  const start = performance.now();
  const d = process.argv[3] ?? '1';
  const { count, counterExample } = d.startsWith('r') ? await runRandomSchedules(scope as any, { seed: 7, milliseconds: Number(d.slice(1)) * 1000 }) : await runAllSchedules(scope as any, Number(d));
  console.log(count, 'schedules', Math.round(performance.now() - start), 'ms');
  if (counterExample) console.log(counterExample.schedule.join('.'), counterExample.message, '\n' + counterExample.lines.join('\n'));
}
