import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { synthesize } from '../../infra/local/template/assembly.ts';

/** Synthesizes the staging stack into a folder that is removed when this process ends, also on Ctrl-C. */
export async function synthesizeStaging(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'pet-store-assembly-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  await synthesize(folder, 'staging');
  return folder;
}
