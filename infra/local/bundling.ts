import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { stackName } from './assembly.ts';
import { RunnerError } from './runner-error.ts';

/** What the CDK app says of a function's bundle. */
const Bundling = v.object({
  /** The function's name in the app. */
  name: v.string(),
  /** The module that it is made from, relative to the project. */
  entry: v.string(),
  /** Options for esbuild. */
  options: v.record(v.string(), v.any()),
});
export type Bundling = v.InferOutput<typeof Bundling>;

/**
 * Reads from a cloud assembly what the bundles of a stage's functions were made from, by the functions' logical ids.
 *
 * @throws RunnerError when a function's bundle is not told of.
 */
export function readBundlings(
  stage: string,
  assembly: string,
  logicalIds: Iterable<string>,
): Map<string, Bundling> {
  const stack = stackName(stage);
  const { artifacts } = JSON.parse(readFileSync(join(assembly, 'manifest.json'), 'utf8'));
  const file = join(assembly, artifacts[stack].additionalMetadataFile);
  const constructs: { type: string; data: unknown }[][] = Object.values(
    JSON.parse(readFileSync(file, 'utf8')),
  );
  return new Map(
    Array.from(logicalIds, (logicalId) => {
      const metadata = constructs.find((entries) =>
        entries.some(({ type, data }) => type === 'aws:cdk:logicalId' && data === logicalId),
      );
      const found = metadata?.find(({ type }) => type === 'pet-store:bundling');
      if (!found) {
        throw new RunnerError(
          `The stack ${stack} does not tell what the bundle of ${logicalId} is made from: leave out --watch.`,
        );
      }
      return [logicalId, v.parse(Bundling, found.data)];
    }),
  );
}
