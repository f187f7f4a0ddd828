import { createHash } from 'node:crypto';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stackName } from '../../../shared/names.ts';
import { UsageError } from '../../command.ts';

/** The parts of a CloudFormation template that a deployment reads. */
export interface Template {
  Resources: Record<string, { Type: string; Properties?: Record<string, any> }>;
  Outputs: Record<string, { Value: unknown }>;
}

/** An alias `live` of a template that was synthesized with `addReleaseParameters`. */
export interface HeldAlias {
  /** Logical id of the alias. */
  aliasId: string;
  /** Logical id of the function's new version. */
  versionId: string;
  /** Stack parameter with the version to which the alias points during the stack update. */
  parameter: string;
}

/** @throws UsageError if the folder contains no template of the stage */
export function readTemplate(assembly: string, stage: string): Template {
  const file = join(assembly, `${stackName(stage)}.template.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Template;
  const names = globSync('*.template.json', { cwd: assembly }).map((name) => name.replace(/\..*/, ''));
  throw new UsageError(
    `${assembly} contains no stack ${stackName(stage)}, but ${names.toSorted().join(', ') || 'no stack'}. ` +
      'Correct --stage or --assembly.',
  );
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

/** @throws UsageError if the files in the folder are not those whose hash is `expected` */
export function requireHash(folder: string, expected: string): void {
  const actual = hashOf(folder);
  if (actual === expected) return;
  throw new UsageError(
    `The SHA-256 of ${folder} is ${actual}, not ${expected}. Synthesize again, because the folder is not what was synthesized.`,
  );
}
