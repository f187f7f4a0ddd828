import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { projectRoot, runWithOptions } from '../../../infra/command.ts';
import { currentResources, releasedFile } from './released.ts';

const name = relative(projectRoot, releasedFile);

const USAGE = `npm run release:stacks

Writes the resources of the stacks to ${name}. Tests fail if the next deployment would replace or delete them.`;

await runWithOptions(USAGE, {}, () => {
  writeFileSync(releasedFile, `${JSON.stringify(currentResources(), null, 2)}\n`);
  console.log(`Wrote ${name}.`);
});
