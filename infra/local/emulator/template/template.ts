import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { EmulatorError } from '../errors.ts';
import { createResolver, type TemplateResource } from './intrinsics.ts';
import { resourceModels, type ResourceType, SKIPPED_TYPES } from './resources.ts';

export interface Resource<T extends ResourceType> {
  logicalId: string;
  properties: v.InferOutput<(typeof resourceModels)[T]>;
}

/** Parsed template. The properties of its resources match the models and contain no intrinsic functions. */
export type Template = ReturnType<typeof parseTemplate>;

/** Returns a stack's template. @throws EmulatorError if the template cannot be read, is invalid or is not supported. */
export function readTemplate(stackName: string, assembly: string): Template {
  const file = join(assembly, `${stackName}.template.json`);
  try {
    return parseTemplate(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof EmulatorError) throw error;
    const problem = `The template ${file} cannot be read (${(error as Error).message}).`;
    throw new EmulatorError(`${problem} Synthesize again with npx cdk synth.`);
  }
}

/**
 * Returns the parsed template.
 *
 * @param text template as JSON
 * @throws EmulatorError that lists all resource types, properties and intrinsic functions that are not supported.
 */
export function parseTemplate(text: string) {
  const { Resources, Outputs } = JSON.parse(text) as {
    Resources: Record<string, TemplateResource>;
    Outputs: unknown;
  };
  const resolve = createResolver(Resources);
  const problems: string[] = [];
  const skippedTypes = new Set<string>();
  const parsed: (Resource<ResourceType> & { type: string })[] = [];

  for (const [logicalId, { Type: type, Properties, Condition }] of Object.entries(Resources)) {
    if (SKIPPED_TYPES.has(type)) {
      skippedTypes.add(type);
      continue;
    }
    if (!isModeled(type)) {
      problems.push(`${logicalId}: the type ${type}`);
      continue;
    }
    if (Condition) problems.push(`${logicalId} (${type}): Condition: not supported`);
    const model: v.GenericSchema = resourceModels[type];
    const { output, issues = [] } = v.safeParse(model, resolve(Properties ?? {}));
    for (const issue of issues) problems.push(`${logicalId} (${type}): ${describe(issue)}`);
    parsed.push({ type, logicalId, properties: output as Resource<ResourceType>['properties'] });
  }

  if (problems.length > 0) {
    const remedy = 'Extend resources.ts or intrinsics.ts in infra/local/emulator/template.';
    const parts = problems.join('; ');
    throw new EmulatorError(`The emulator does not support parts of the stack: ${parts}. ${remedy}`);
  }

  return {
    resources: <T extends ResourceType>(type: T) =>
      parsed.filter((resource) => resource.type === type) as unknown as Resource<T>[],
    outputs: resolve(Outputs) as Record<string, { Value: string }>,
    skippedTypes: [...skippedTypes].toSorted(),
  };
}

function isModeled(type: string): type is ResourceType {
  return Object.hasOwn(resourceModels, type);
}

/** Describes a value that a model rejects. A symbol in place of the value describes why the value is unknown. */
function describe(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue);
  if (issue.expected === 'never') return `${path}: not supported`;
  if (typeof issue.input === 'symbol') return `${path}: ${issue.input.description}`;
  return `${path}: ${issue.message}`;
}
