import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stackName } from '../template/assembly.ts';

/** What the CDK app says of a function's bundle. */
export interface Bundling {
  /** The function's name in the app. */
  name: string;
  /** The module that it is made from, relative to the project. */
  entry: string;
  /** Options for esbuild. */
  options: Record<string, unknown>;
}

/** Reads from the cloud assembly of this project what the bundles of a stage's functions were made from, by their logical ids. */
export function readBundlings(stage: string, assembly: string): Map<string, Bundling> {
  const { artifacts } = JSON.parse(readFileSync(join(assembly, 'manifest.json'), 'utf8'));
  const file = join(assembly, artifacts[stackName(stage)].additionalMetadataFile);
  const constructs: { type: string; data: unknown }[][] = Object.values(
    JSON.parse(readFileSync(file, 'utf8')),
  );
  const dataOf = (construct: (typeof constructs)[0], name: string) =>
    construct.find(({ type }) => type === name)?.data;
  return new Map(
    constructs
      .filter((construct) => dataOf(construct, 'pet-store:bundling') !== undefined)
      .map((construct) => [
        dataOf(construct, 'aws:cdk:logicalId') as string,
        dataOf(construct, 'pet-store:bundling') as Bundling,
      ]),
  );
}
