import { type BuildFailure, context, formatMessages, type Message } from 'esbuild';
import { projectRoot } from '../template/assembly.ts';
import type { Bundling } from './bundling.ts';

export interface Bundler {
  /** Whether a change of these files, relative to the project, may change the bundle. */
  dependsOn: (paths: Set<string>) => boolean;
  /** The files that the last bundle was made from, relative to the project. */
  inputs: () => string[];
  /** The bundle, or undefined when it cannot be made; and what esbuild has to say, ready to be printed. */
  build: () => Promise<{ code: string | undefined; messages: string[] }>;
  close: () => Promise<void>;
}

/** Makes a function's bundle anew again and again, as the CDK made it, with what did not change kept in memory. */
export async function createBundler({ entry, options }: Bundling): Promise<Bundler> {
  const esbuild = await context({
    ...options,
    absWorkingDir: projectRoot,
    entryPoints: [entry],
    outfile: 'index.mjs',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  let inputs = new Set<string>();
  let isBuilt = false;
  return {
    // One that failed may lack any file.
    dependsOn: (paths) => !isBuilt || !paths.isDisjointFrom(inputs),
    inputs: () => [...inputs],
    async build() {
      try {
        const { outputFiles, metafile, warnings } = await esbuild.rebuild();
        inputs = new Set(Object.keys(metafile.inputs));
        isBuilt = true;
        return { code: outputFiles[0]!.text, messages: await format(warnings, 'warning') };
      } catch (error) {
        isBuilt = false;
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
