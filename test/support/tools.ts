import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../../infra/operate/command.ts';

// The packages of test/tools have a separate lock file, because only a few proofs and measurements need them. `npm ci`
// does not install them.

const manifest = new URL('../tools/package.json', import.meta.url);
export const toolModules = fileURLToPath(new URL('node_modules', manifest));

/** Checks whether npm has installed all packages of a `node_modules` folder. It writes this file last. */
export function isInstalled(modules: string): boolean {
  return existsSync(`${modules}/.package-lock.json`);
}

/** Checks whether the tools are installed. @throws UsageError if not, and CI is `true`: in CI, no test is skipped. */
export function hasTools(): boolean {
  if (isInstalled(toolModules)) return true;
  if (process.env['CI'] === 'true') requireTool('');
  return false;
}

/** Imports a tool without its types, which `npm run check` cannot rely on. @throws UsageError if it is not installed. */
export function requireTool(name: string): any {
  try {
    return createRequire(manifest)(name);
  } catch (cause) {
    throw new UsageError('The packages of test/tools are missing: run npm ci --prefix test/tools.', {
      cause,
    });
  }
}
