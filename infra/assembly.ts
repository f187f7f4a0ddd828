import { existsSync, globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from './command.ts';

/** Checks that the value of --assembly is a folder. @throws UsageError if it is not */
export function requireAssembly(folder: string): void {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (!stats) throw new UsageError(`The folder ${folder} does not exist. Choose a folder with --assembly.`);
  if (!stats.isDirectory())
    throw new UsageError(`${folder} is not a folder. Choose a folder with --assembly.`);
}

/** Returns the path of a stack's template. @throws UsageError if `folder` is not an assembly with the stack */
export function findTemplate(folder: string, stack: string): string {
  requireAssembly(folder);
  const file = join(folder, `${stack}.template.json`);
  if (existsSync(file)) return file;
  const stacks = globSync('*.template.json', { cwd: folder }).map((name) => name.replace(/\..*/, ''));
  if (stacks.length === 0)
    throw new UsageError(`${folder} contains no stacks. Synthesize with npx cdk synth.`);
  throw new UsageError(
    `${folder} contains no stack ${stack}, but ${stacks.toSorted().join(', ')}. Correct --stage or --assembly.`,
  );
}
