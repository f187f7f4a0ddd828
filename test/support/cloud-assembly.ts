import { execFile } from 'node:child_process';
import { dirname, delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

/** Synthesizes the stacks of these stages into a folder, bundles included. */
export async function synthesizeInto(folder: string, ...stages: string[]): Promise<void> {
  const stacks = stages.map((stage) => `PetStore-${stage}`);
  await promisify(execFile)(
    process.execPath,
    ['node_modules/aws-cdk/bin/cdk', 'synth', ...stacks, '--quiet', '--output', folder],
    {
      cwd: projectRoot,
      env: { ...process.env, PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) },
    },
  );
}
