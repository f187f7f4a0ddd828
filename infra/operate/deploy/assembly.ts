import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stackName } from '../../../shared/names.ts';
import { findTemplate, requireAssembly } from '../../assembly.ts';
import { UsageError } from '../../command.ts';

/** The parts of a CloudFormation template that a deployment reads. */
export interface Template {
  Resources: Record<string, { Type: string; Properties?: Record<string, any> }>;
  Outputs: Record<string, { Value: unknown }>;
}

/** An alias `live` that a deployment can hold at its old version by a parameter that `addReleaseParameters` added. */
export interface HeldAlias {
  /** Logical id of the alias. */
  aliasId: string;
  /** Logical id of the function's new version. */
  versionId: string;
  /** Stack parameter with the version to which the alias points during the stack update. */
  parameter: string;
}

/** Returns the template of a stage. @throws UsageError if the folder contains no template of the stage */
export function readTemplate(assembly: string, stage: string): Template {
  return JSON.parse(readFileSync(findTemplate(assembly, stackName(stage)), 'utf8')) as Template;
}

/** Returns the aliases that a deployment can hold at their old versions, or no aliases if the stage has no canary. */
export function heldAliasesOf({ Resources }: Template): HeldAlias[] {
  return Object.entries(Resources).flatMap(([aliasId, { Type, Properties }]) => {
    const condition = Type === 'AWS::Lambda::Alias' ? Properties?.['FunctionVersion']?.['Fn::If'] : undefined;
    if (!condition) return [];
    const [, { Ref: parameter }, version] = condition;
    return [{ aliasId, versionId: version['Fn::GetAtt'][0] as string, parameter: parameter as string }];
  });
}

/** Returns the logical id of each function's role by the logical id of its alias. */
export function rolesOf({ Resources }: Template): Map<string, string> {
  const aliases = Object.entries(Resources).filter(([, { Type }]) => Type === 'AWS::Lambda::Alias');
  return new Map(
    aliases.map(([aliasId, { Properties }]) => {
      const functionId = Properties?.['FunctionName'].Ref as string;
      return [aliasId, Resources[functionId]?.Properties?.['Role']['Fn::GetAtt'][0] as string];
    }),
  );
}

/** Returns the hexadecimal SHA-256 of a folder's files and their paths. */
export function hashOf(folder: string): string {
  const hash = createHash('sha256');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  for (const file of files.map(({ parentPath, name }) => join(parentPath, name)).toSorted()) {
    const content = createHash('sha256').update(readFileSync(file)).digest('hex');
    hash.update(`${content}  ${relative(folder, file)}\n`);
  }
  return hash.digest('hex');
}

/** Checks the files of a folder. @throws UsageError if `folder` is not a folder, or its hash is not `expected` */
export function requireHash(folder: string, expected: string): void {
  requireAssembly(folder);
  const actual = hashOf(folder);
  if (actual === expected) return;
  throw new UsageError(
    `The SHA-256 of ${folder} is ${actual}, not ${expected}. Synthesize again, because files changed after the synthesis.`,
  );
}
