import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runWithOptions, UsageError } from '../../infra/operate/command.ts';
import { folderUntilExit, sharedSynthesis } from '../support/assembly.ts';
import { isInstalled } from '../support/tools.ts';
import { type Report, summarize } from './report.ts';

// `npm run mutate`: changes the code of shared/ and functions/ in a thousand places, one at a time, and reports the
// changes that no quick test notices.

const USAGE = `npm run mutate -- [--force] [path ...]

  path     mutates only these files and folders, for example shared/storage
  --force  tests every mutant again, not only those whose code or tests have changed`;

const root = fileURLToPath(new URL('../..', import.meta.url));
const modules = fileURLToPath(new URL('node_modules', import.meta.url));
const report = join(root, '.petstore/mutation/report.json');

async function mutate({ force = false }: { force?: boolean | undefined }, paths: string[]): Promise<void> {
  if (!isInstalled(modules)) throw new UsageError('StrykerJS is missing: run npm ci --prefix test/mutation.');

  rmSync(report, { force: true });
  const stryker = join(modules, '@stryker-mutator/core/bin/stryker.js');
  const choice =
    paths.length > 0
      ? ['--mutate', paths.map((path) => (path.endsWith('.ts') ? path : `${path}/**/*.ts`)).join(',')]
      : [];
  const options = [...choice, ...(force ? ['--force'] : [])];
  const started = performance.now();
  // All mutants run on the tables of one synthesis, which has no mutant.
  process.env['PET_STORE_TEST_RUN'] = folderUntilExit();
  const { code, stderr } = await sharedSynthesis();
  if (code !== 0) throw new UsageError(`The stacks cannot be synthesized:\n${stderr}`);
  spawnSync(process.execPath, [stryker, 'run', 'test/mutation/stryker.config.js', ...options], {
    cwd: root,
    stdio: 'inherit',
  });
  if (!existsSync(report)) throw new UsageError('StrykerJS has not finished; it says why above.');

  console.log(`${((performance.now() - started) / 60_000).toFixed(1)} minutes`);
  const { files } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  const isChosen = (file: string): boolean =>
    paths.length === 0 || paths.some((path) => file === path || file.startsWith(`${path}/`));
  const chosen = Object.entries(files).filter(([file]) => isChosen(file));
  if (chosen.length === 0)
    throw new UsageError('These paths have no mutants; give files or folders of shared/ or functions/.');
  if (!summarize({ files: Object.fromEntries(chosen) })) process.exitCode = 1;
}

await runWithOptions(USAGE, { force: { type: 'boolean' } }, mutate, { allowPositionals: true });
