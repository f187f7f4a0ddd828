import { runWithOptions } from '../command.ts';
import { costReport } from './report.ts';

const USAGE = `npm run cost

Prints what a stage costs a month, in Markdown. npm run generate writes the same into docs/cost.md.`;

await runWithOptions(USAGE, {}, () => console.log(costReport()));
