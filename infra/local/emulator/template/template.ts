import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { EmulatorError } from '../errors.ts';
import { isIgnoredProperty, isNotRun, resourceModels, type ResourceType } from './resources.ts';

export const region = 'us-east-1';
export const accountId = '000000000000';

const pseudoParameters: Record<string, string | undefined> = {
  'AWS::NoValue': undefined,
  'AWS::AccountId': accountId,
  'AWS::Partition': 'aws',
  'AWS::Region': region,
  'AWS::URLSuffix': 'amazonaws.com',
};

/** Parts of a template that the emulator reads. The other parts have no effect on resources that it supports. */
const RawTemplate = v.object({
  Resources: v.record(
    v.string(),
    v.object({
      Type: v.string(),
      Properties: v.optional(v.record(v.string(), v.unknown()), {}),
      Condition: v.optional(v.string()),
      Metadata: v.optional(v.record(v.string(), v.unknown()), {}),
    }),
  ),
  Outputs: v.optional(v.record(v.string(), v.object({ Value: v.unknown() })), {}),
});

type Resources = v.InferOutput<typeof RawTemplate>['Resources'];

export interface Resource<T extends ResourceType> {
  logicalId: string;
  metadata: Record<string, unknown>;
  properties: v.InferOutput<(typeof resourceModels)[T]>;
}

/** Parsed template. The properties of its resources match the models and contain no intrinsic functions. */
export type Template = ReturnType<typeof parseTemplate>;

/** @throws EmulatorError if the stack's template is missing, invalid or not supported. */
export function readTemplate(stackName: string, assembly: string): Template {
  const suffix = '.template.json';
  try {
    return parseTemplate(readFileSync(join(assembly, `${stackName}${suffix}`), 'utf8'));
  } catch (error) {
    if (error instanceof EmulatorError) throw error;
    const stacks = globSync(`*${suffix}`, { cwd: assembly }).map((file) => file.slice(0, -suffix.length));
    const found = stacks.length > 0 ? ` ${assembly} contains ${stacks.toSorted().join(', ')}.` : '';
    throw new EmulatorError(
      'stack',
      `The stack ${stackName} cannot be read (${(error as Error).message}).${found}`,
    );
  }
}

/** @throws EmulatorError if parts of the template are not supported. The message lists all these parts. */
export function parseTemplate(text: string) {
  const template = v.safeParse(RawTemplate, JSON.parse(text));
  if (!template.success) throw unsupported(template.issues.map(describe));
  const { Resources, Outputs } = template.output;

  const problems: string[] = [];
  const skippedTypes = new Set<string>();
  const known: { type: string; resource: Resource<ResourceType> }[] = [];
  for (const [logicalId, { Type, Properties, Metadata: metadata, Condition }] of Object.entries(Resources)) {
    if (isNotRun(Type)) {
      skippedTypes.add(Type);
    } else if (!Object.hasOwn(resourceModels, Type)) {
      problems.push(`${logicalId}: the type ${Type}`);
    } else if (Condition !== undefined) {
      problems.push(`${logicalId}: the attribute Condition`);
    } else {
      const { properties, issues } = readProperties(Type as ResourceType, Properties, Resources);
      problems.push(...issues.map((issue) => `${logicalId} (${Type}): ${issue}`));
      known.push({ type: Type, resource: { logicalId, metadata, properties } });
    }
  }
  if (problems.length > 0) throw unsupported(problems);

  return {
    resources: <T extends ResourceType>(type: T) =>
      known.filter((entry) => entry.type === type).map(({ resource }) => resource as Resource<T>),
    output: (name: string): string => {
      const value = Outputs[name]?.Value;
      if (value === undefined) throw new EmulatorError('stack', `The template has no output ${name}.`);
      return resolve(value, Resources) as string;
    },
    skippedTypes: [...skippedTypes].toSorted(),
  };
}

/** Returns the properties with resolved references, and a list of problems. Ignored properties are omitted. */
function readProperties(type: ResourceType, properties: Record<string, unknown>, resources: Resources) {
  const relevant = Object.entries(properties).filter(([name]) => !isIgnoredProperty(type, name));
  try {
    const model: v.GenericSchema = resourceModels[type];
    const { output, issues = [] } = v.safeParse(model, resolve(Object.fromEntries(relevant), resources));
    return { properties: output as never, issues: issues.map(describe) };
  } catch (error) {
    if (!(error instanceof EmulatorError)) throw error;
    return { properties: undefined as never, issues: [error.message] };
  }
}

function unsupported(problems: string[]): EmulatorError {
  return new EmulatorError(
    'unsupported',
    `The emulator does not support parts of the stack: ${problems.join('; ')}.`,
  );
}

function describe(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue);
  const message = issue.expected === 'never' ? 'not supported' : issue.message;
  return path ? `${path}: ${message}` : message;
}

function resolve(value: unknown, resources: Resources): unknown {
  if (Array.isArray(value))
    return value.map((element) => resolve(element, resources)).filter((element) => element !== undefined);
  if (typeof value !== 'object' || value === null) return value;

  const [[name, argument] = ['', undefined], ...more] = Object.entries(value);
  if (more.length === 0 && (name === 'Ref' || name.startsWith('Fn::'))) {
    const intrinsic = intrinsics[name];
    if (!intrinsic) throw new EmulatorError('stack', `the intrinsic function ${name}`);
    return intrinsic(resolve(argument, resources), resources);
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, resolve(member, resources)]));
}

const intrinsics: Record<string, (argument: any, resources: Resources) => unknown> = {
  Ref: valueOf,
  'Fn::GetAtt': ([name, attribute]: [string, string], resources) => getAttribute(name, attribute, resources),
  'Fn::Join': ([separator, parts]: [string, string[]]) => parts.join(separator),
  'Fn::Select': ([index, list]: [number, string[]]) => list[index],
  'Fn::Split': ([separator, text]: [string, string]) => text.split(separator),
  'Fn::Sub': (text: string, resources) =>
    text.replaceAll(/\$\{([^}]+)\}/g, (_match, name: string) => valueOf(name, resources) ?? ''),
};

/** Returns the value of `Ref`: a pseudo parameter, a stage's name, an alias's ARN or any other resource's logical id. */
function valueOf(logicalId: string, resources: Resources): string | undefined {
  if (Object.hasOwn(pseudoParameters, logicalId)) return pseudoParameters[logicalId];
  const { Type, Properties } = find(logicalId, resources);
  if (Type === 'AWS::ApiGateway::Stage') return Properties['StageName'] as string;
  if (Type !== 'AWS::Lambda::Alias') return logicalId;
  return `${functionArn(resolve(Properties['FunctionName'], resources) as string)}:${Properties['Name'] as string}`;
}

export function tableArn(name: string): string {
  return `arn:aws:dynamodb:${region}:${accountId}:table/${name}`;
}

function functionArn(name: string): string {
  return `arn:aws:lambda:${region}:${accountId}:function:${name}`;
}

const arns: Record<string, (name: string) => string> = {
  'AWS::DynamoDB::GlobalTable': tableArn,
  'AWS::IAM::Role': (name) => `arn:aws:iam::${accountId}:role/${name}`,
  'AWS::Lambda::Function': functionArn,
  'AWS::Logs::LogGroup': (name) => `arn:aws:logs:${region}:${accountId}:log-group:${name}:*`,
};

function getAttribute(logicalId: string, attribute: string, resources: Resources): string {
  const { Type } = find(logicalId, resources);
  if (attribute === 'RootResourceId') return logicalId;
  const arn = attribute === 'Arn' ? arns[Type] : undefined;
  if (!arn) throw new EmulatorError('stack', `the attribute ${attribute} of ${logicalId} (${Type})`);
  return arn(logicalId);
}

function find(logicalId: string, resources: Resources): Resources[string] {
  const resource = resources[logicalId];
  if (!resource)
    throw new EmulatorError('stack', `a reference to ${logicalId}, which the template does not define`);
  return resource;
}
