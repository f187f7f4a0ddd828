import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../../infra/command.ts';

// The packages in test/tools have a separate lock file, so that `npm ci` does not install them. Only a few proofs and
// measurements need these packages.

const manifest = new URL('../tools/package.json', import.meta.url);
export const toolModules = fileURLToPath(new URL('node_modules', manifest));

const MISSING = 'The packages in test/tools are not installed. Run `npm ci --prefix test/tools`.';

/** Returns whether the tools are installed. @throws UsageError if they are missing in CI, which must run all tests */
export function hasTools(): boolean {
  // npm writes this file after it has installed all packages, so an interrupted installation does not count.
  if (existsSync(`${toolModules}/.package-lock.json`)) return true;
  if (process.env['CI'] === 'true') throw new UsageError(MISSING);
  return false;
}

/** Imports a tool without types, so that `npm run check` does not need the tool. @throws UsageError if it is missing */
export function requireTool(name: string): any {
  try {
    return createRequire(manifest)(name);
  } catch (cause) {
    throw new UsageError(MISSING, { cause });
  }
}
