import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runWithOptions, UsageError } from '../../infra/command.ts';
import { folderUntilExit, sharedSynthesis } from '../support/assembly.ts';
import { isInstalled } from '../support/tools.ts';
import { type Report, summarize } from './report.ts';

// `npm run mutate` changes the code of shared/ and functions/ in about 900 ways, one at a time, and reports the changes
// (mutants) that no fast test detects.

const USAGE = `npm run mutate -- [--force] [path ...]

  path     mutate only this file or folder, such as shared/storage
  --force  test all mutants, including those whose code and tests have not changed`;

const root = fileURLToPath(new URL('../..', import.meta.url));
const modules = fileURLToPath(new URL('node_modules', import.meta.url));
const report = join(root, '.petstore/mutation/report.json');

async function mutate({ force = false }: { force?: boolean | undefined }, paths: string[]): Promise<void> {
  if (!isInstalled(modules))
    throw new UsageError('Run `npm ci --prefix test/mutation` to install StrykerJS.');

  rmSync(report, { force: true });
  const stryker = join(modules, '@stryker-mutator/core/bin/stryker.js');
  const patterns = paths.map((path) => (path.endsWith('.ts') ? path : `${path}/**/*.ts`));
  const options = [...(paths.length > 0 ? ['--mutate', patterns.join()] : []), ...(force ? ['--force'] : [])];
  const started = performance.now();
  // Synthesizes once from unchanged code, so that the tests of all mutants share one assembly.
  process.env['PET_STORE_TEST_RUN'] = folderUntilExit();
  const { code, stderr } = await sharedSynthesis();
  if (code !== 0) throw new UsageError(`Synthesizing the stacks failed:\n${stderr}`);
  spawnSync(process.execPath, [stryker, 'run', 'test/mutation/stryker.config.js', ...options], {
    cwd: root,
    stdio: 'inherit',
  });
  if (!existsSync(report))
    throw new UsageError('StrykerJS did not finish. Its output above shows the reason.');

  console.log(`${((performance.now() - started) / 60_000).toFixed(1)} minutes`);
  const { files } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  const isSelected = (file: string): boolean =>
    paths.length === 0 || paths.some((path) => file === path || file.startsWith(`${path}/`));
  const selected = Object.entries(files).filter(([file]) => isSelected(file));
  if (selected.length === 0)
    throw new UsageError('The paths contain no mutants. Specify paths in shared/ or functions/.');
  if (!summarize({ files: Object.fromEntries(selected) })) process.exitCode = 1;
}

await runWithOptions(USAGE, { force: { type: 'boolean' } }, mutate, { allowPositionals: true });
