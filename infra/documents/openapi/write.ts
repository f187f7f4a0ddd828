import { copyFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openApiJson } from './document.ts';
import { runCommand } from '../../operate/command.ts';

// `npm run openapi`: writes openapi.json from the operations and their schemas.

const USAGE = `npm run openapi -- [--release]

  --release  also keeps it as docs/openapi-released.json, which npm run openapi:diff compares with: do so when clients
             are given this version`;

const file = fileURLToPath(new URL('../../../openapi.json', import.meta.url));
const released = fileURLToPath(new URL('../../../docs/openapi-released.json', import.meta.url));

async function openapi(): Promise<void> {
  const { values } = parseArgs({
    options: { release: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
  });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  writeFileSync(file, openApiJson());
  console.log('Wrote openapi.json.');
  if (!values.release) return;
  copyFileSync(file, released);
  console.log('Wrote docs/openapi-released.json.');
}

await runCommand(openapi);
