import { runWithOptions } from '../../command.ts';
import { costReport } from './report.ts';

const USAGE = `npm run cost

Prints the monthly cost of the stages in Markdown. npm run generate writes the same tables to docs/cost.md.`;

await runWithOptions(USAGE, {}, () => console.log(costReport()));
