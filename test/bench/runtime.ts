import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What runs a function's code in Lambda: it asks the Runtime API for events and hands them to the handler. */
export interface Runtime {
  /** With its version, if it has one. */
  name: string;
  /** The module that starts it. */
  file: string;
}

/** What gets the one that Lambda's own runtime is made of. */
export const howToGetRuntime =
  '`npm ci --prefix test/bench/runtime` gets it (Linux, with CMake and a C++ compiler; about a minute)';

const STAND_IN = 'stand-in';

/** What stands in for the real one where that is not there. */
const standIn: Runtime = { name: STAND_IN, file: pathOf('stand-in.mjs') };

export function isStandIn(name: string): boolean {
  return name === STAND_IN;
}

/** The runtime interface client of AWS if it has been built, else what stands in for it. */
export function findRuntime(): Runtime {
  const folder = pathOf('node_modules/aws-lambda-ric');
  // Without its native part it ends at its start.
  if (!existsSync(`${folder}/rapid-client.node`)) return standIn;
  const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  return { name: `${name} ${version}`, file: `${folder}/index.mjs` };
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`runtime/${name}`, import.meta.url));
}
