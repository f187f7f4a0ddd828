import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../../infra/operate/command.ts';

// The packages of test/tools have a lock file of their own, because few proofs and measurements need them: `npm ci` does
// not install them.

const manifest = new URL('../tools/package.json', import.meta.url);
export const toolModules = fileURLToPath(new URL('node_modules', manifest));

/** Whether npm has installed all packages of a `node_modules` folder: it writes this file last. */
export function isInstalled(modules: string): boolean {
  return existsSync(`${modules}/.package-lock.json`);
}

/** Whether they are installed. @throws UsageError if they are not and CI is `true`, because no test may be skipped there */
export function hasTools(): boolean {
  if (isInstalled(toolModules)) return true;
  if (process.env['CI'] === 'true') requireTool('');
  return false;
}

/** Loads one of them, without its types, which `npm run check` must do without. @throws UsageError if it is not installed */
export function requireTool(name: string): any {
  try {
    return createRequire(manifest)(name);
  } catch (cause) {
    throw new UsageError('The packages of test/tools are missing: run npm ci --prefix test/tools.', {
      cause,
    });
  }
}
