import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operations } from '../../shared/contract/operations.ts';
import { stackName } from '../../shared/names.ts';
import { sharedSynthesis } from './assembly.ts';
import { constructOf } from './invoke.ts';
import { shortId } from './logical-ids.ts';
import { type StageName, stages } from './stages.ts';

export interface StackTemplate {
  Resources: Record<string, { Type: string; Properties: Record<string, any> }>;
}

const assembly = await sharedSynthesis();

export const stageNames = Object.keys(stages) as StageName[];

/** Returns the stage's template from the assembly that all tests share. */
export function stackTemplate(stage: StageName | 'account'): StackTemplate {
  return JSON.parse(readFileSync(join(assembly, `${stackName(stage)}.template.json`), 'utf8'));
}

/** Returns the logical id and the resource, for each resource of the type. */
export function resourcesOf({ Resources }: StackTemplate, type: string) {
  return Object.entries(Resources).filter(([, { Type }]) => Type === type);
}

export type ReadableTemplate = Record<'Resources' | 'Outputs', any>;

/**
 * Returns the template with short logical ids (`Authorizer`) and references in the form `${Authorizer.Arn}`.
 *
 * @throws Error if two logical ids differ only in a hash
 */
export function readable(template: { Resources: object }): ReadableTemplate {
  const names = new Map(Object.keys(template.Resources).map((id) => [id, shortId(id)]));
  if (new Set(names.values()).size < names.size) throw new Error('Two logical ids differ only in a hash.');
  const text = JSON.stringify(template).replaceAll(/\w+/g, (word) => names.get(word) ?? word);
  return JSON.parse(text, withReference) as ReadableTemplate;
}

function withReference(key: string, value: any): unknown {
  // This property is omitted, so that tests also pass for teams who add a permissions boundary (see docs/deploy.md).
  if (key === 'PermissionsBoundary') return undefined;
  if (typeof value?.Ref === 'string') return `\${${value.Ref}}`;
  if (value?.['Fn::GetAtt']) return `\${${value['Fn::GetAtt'].join('.')}}`;
  if (value?.['Fn::Select']) return value['Fn::Select'][1]['Fn::Split'][1];
  if (value?.['Fn::Join']) return value['Fn::Join'][1].join(value['Fn::Join'][0]);
  return value;
}

export function readableTemplate(stage: StageName | 'account'): ReadableTemplate {
  return readable(stackTemplate(stage));
}

export function propertiesOf(template: StackTemplate, type: string): any[] {
  return resourcesOf(template, type).map(([, { Properties }]) => Properties);
}

/** Returns the metrics that an alarm watches, each with its `Namespace`, `MetricName` and `Dimensions`. */
export function watchedBy(alarm: any): any[] {
  return alarm.Metrics?.flatMap(({ MetricStat }: any) => MetricStat?.Metric ?? []) ?? [alarm];
}

/** Names of the functions that the API invokes, such as `Authorizer`. A stack can have further functions. */
export const functionNames = [...Object.keys(operations).map(constructOf), 'Authorizer'];

/** Returns what `read` returns for each of these functions, by the function's name. */
export function ofEachFunction<T>(read: (name: string) => T): Record<string, T> {
  return Object.fromEntries(functionNames.map((name) => [name, read(name)]));
}
