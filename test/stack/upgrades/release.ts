import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { projectRoot, runWithOptions } from '../../../infra/command.ts';
import { stages } from '../../support/stages.ts';
import { templatesOf } from '../template-of.ts';
import { variants } from '../variants.ts';
import { resourcesIn } from './resources.ts';

const file = fileURLToPath(new URL('./released.json', import.meta.url));
const name = relative(projectRoot, file);

const USAGE = `npm run release:stacks

Writes the resources of the stacks to ${name}. Tests fail if the next deployment would replace or delete them.`;

await runWithOptions(USAGE, {}, () => {
  // The stages have few settings and all settings. They do not depend on infra/stages.ts, so operators can change that file
  // without releasing the stacks again.
  const templates = templatesOf({ staging: stages.staging, production: variants.everySetting });
  const resources = Object.entries(templates).map(([stage, template]) => [
    stage,
    resourcesIn(stage, template),
  ]);
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(resources), null, 2)}\n`);
  console.log(`Wrote ${name}.`);
});
