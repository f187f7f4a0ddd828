import { parseArgs } from 'node:util';
import { runCommand } from '../command.ts';
import { costReport } from './report.ts';

// `npm run cost`: what a month of a stage costs, as Markdown. `npm run generate` writes it into docs/cost.md.

await runCommand(async () => {
  parseArgs({ options: {} });
  console.log(costReport());
});
