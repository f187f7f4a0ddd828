import { type BuildFailure, context, formatMessages, type Message } from 'esbuild';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stackName } from '../../shared/names.ts';
import { projectRoot } from './assembly.ts';

export interface Bundling {
  name: string;
  entry: string;
  options: Record<string, unknown>;
}

/** Reads the bundling settings of a stage's functions from the cloud assembly. The map's keys are logical ids. */
export function readBundlings(stage: string, assembly: string): Map<string, Bundling> {
  const { artifacts } = JSON.parse(readFileSync(join(assembly, 'manifest.json'), 'utf8'));
  const file = join(assembly, artifacts[stackName(stage)].additionalMetadataFile);
  const constructs: { type: string; data: unknown }[][] = Object.values(
    JSON.parse(readFileSync(file, 'utf8')),
  );
  return new Map(
    constructs.flatMap((entries) => {
      const { 'aws:cdk:logicalId': logicalId, 'pet-store:bundling': bundling } = Object.fromEntries(
        entries.map(({ type, data }) => [type, data]),
      );
      return bundling ? [[logicalId as string, bundling as Bundling]] : [];
    }),
  );
}

export type Bundler = Awaited<ReturnType<typeof createBundler>>;

/** Creates an incremental bundler with the same settings as the CDK app. Each bundle must export `handler`. */
export async function createBundler({ entry, options }: Bundling, handler: string) {
  const esbuild = await context({
    ...options,
    absWorkingDir: projectRoot,
    entryPoints: [entry],
    outfile: 'index.mjs',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  let inputs: string[] | undefined;
  return {
    /** Returns whether changes to the given paths can change the bundle. The paths are relative to the project. */
    dependsOn: (paths: string[]) =>
      !inputs ||
      // If a folder is renamed or replaced, the watcher reports only the folder, so `paths` can contain folders.
      inputs.some((file) => paths.some((path) => file === path || file.startsWith(`${path}/`))),
    /** Returns the formatted errors or warnings, and the bundle's code unless the build failed. */
    async build(): Promise<{ code: string | undefined; messages: string[] }> {
      try {
        const { outputFiles, metafile, warnings } = await esbuild.rebuild();
        inputs = Object.keys(metafile.inputs);
        const isComplete = metafile.outputs['index.mjs']!.exports.includes(handler);
        if (!isComplete) return { code: undefined, messages: [`${entry} does not export ${handler}.`] };
        return { code: outputFiles[0]!.text, messages: await format(warnings, 'warning') };
      } catch (error) {
        inputs = undefined;
        const { errors } = error as Partial<BuildFailure>;
        return { code: undefined, messages: errors ? await format(errors, 'error') : [String(error)] };
      }
    },
    close: () => esbuild.dispose(),
  };
}

function format(messages: Message[], kind: 'error' | 'warning'): Promise<string[]> {
  const color = process.stderr.isTTY && process.stderr.hasColors();
  return formatMessages(messages, { kind, color });
}
