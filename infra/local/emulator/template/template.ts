import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { EmulatorError } from '../errors.ts';
import { resourceModels, type ResourceType, SKIPPED_TYPES } from './resources.ts';

export const region = 'us-east-1';
export const accountId = '000000000000';

const arnOf = (service: string, resource: string) => `arn:aws:${service}:${region}:${accountId}:${resource}`;
export const tableArn = (name: string) => arnOf('dynamodb', `table/${name}`);
const functionArn = (name: string) => arnOf('lambda', `function:${name}`);

const pseudoParameters: Record<string, string | undefined> = {
  'AWS::NoValue': undefined,
  'AWS::AccountId': accountId,
  'AWS::Partition': 'aws',
  'AWS::Region': region,
  'AWS::URLSuffix': 'amazonaws.com',
};

/** Supported attributes of `Fn::GetAtt`. */
const attributes: Record<string, (logicalId: string) => string> = {
  'AWS::ApiGateway::RestApi.RootResourceId': (logicalId) => logicalId,
  'AWS::DynamoDB::GlobalTable.Arn': tableArn,
  'AWS::IAM::Role.Arn': (name) => `arn:aws:iam::${accountId}:role/${name}`,
  'AWS::Lambda::Function.Arn': functionArn,
  'AWS::Logs::LogGroup.Arn': (name) => arnOf('logs', `log-group:${name}:*`),
};

export interface Resource<T extends ResourceType> {
  logicalId: string;
  properties: v.InferOutput<(typeof resourceModels)[T]>;
}

/** Parsed template. The properties of its resources match the models and contain no intrinsic functions. */
export type Template = ReturnType<typeof parseTemplate>;

/** @throws EmulatorError if the stack's template is missing, invalid or not supported. */
export function readTemplate(stackName: string, assembly: string): Template {
  try {
    return parseTemplate(readFileSync(join(assembly, `${stackName}.template.json`), 'utf8'));
  } catch (error) {
    if (error instanceof EmulatorError) throw error;
    const problem = `The stack ${stackName} cannot be read (${(error as Error).message}).`;
    const templates = globSync('*.template.json', { cwd: assembly }).toSorted().join(', ') || 'no templates';
    const remedy = 'Check the stack and the folder, or synthesize with npx cdk synth.';
    throw new EmulatorError(`${problem} ${assembly} contains ${templates}. ${remedy}`);
  }
}

/** @throws EmulatorError that lists all resource types, properties and intrinsic functions that are not supported. */
export function parseTemplate(text: string) {
  const { Resources, Outputs = {} } = JSON.parse(text) as { Resources: Record<string, any>; Outputs?: any };
  const resolve = createResolver(Resources);
  const problems: string[] = [];
  const skippedTypes = new Set<string>();
  const known: (Resource<ResourceType> & { type: ResourceType })[] = [];
  for (const [logicalId, { Type: type, Properties, Condition }] of Object.entries(Resources)) {
    if (SKIPPED_TYPES.test(type)) skippedTypes.add(type);
    else if (!Object.hasOwn(resourceModels, type)) problems.push(`${logicalId}: the type ${type}`);
    else {
      const model: v.GenericSchema = resourceModels[type as ResourceType];
      const { output, issues = [] } = v.safeParse(model, resolve({ ...Properties, Condition }));
      problems.push(...issues.map((issue) => `${logicalId} (${type}): ${describe(issue)}`));
      known.push({ type, logicalId, properties: output as never });
    }
  }
  if (problems.length > 0) {
    const remedy = 'Extend template/resources.ts or template/template.ts of the emulator.';
    const parts = problems.join('; ');
    throw new EmulatorError(`The emulator does not support parts of the stack: ${parts}. ${remedy}`);
  }

  return {
    resources: <T extends ResourceType>(type: T) =>
      known.filter((resource) => resource.type === type) as unknown as Resource<T>[],
    outputs: resolve(Outputs) as Record<string, { Value: string }>,
    skippedTypes: [...skippedTypes].toSorted(),
  };
}

function describe(issue: v.BaseIssue<unknown>): string {
  const { expected, input, message } = issue;
  const problem = typeof input === 'symbol' ? input.description : message;
  return `${v.getDotPath(issue)}: ${expected === 'never' ? 'not supported' : problem}`;
}

/**
 * Returns a function that replaces intrinsic functions with their values. An intrinsic function without a value becomes
 * a symbol that describes the problem. Only properties without an effect accept symbols.
 */
function createResolver(resources: Record<string, any>) {
  function resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolve).filter((element) => element !== undefined);
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value)
      .map(([name, member]) => [name, resolve(member)] as const)
      .filter(([, member]) => member !== undefined);
    const [[name, argument] = ['', undefined], ...more] = members;
    if (more.length > 0 || !/^(?:Ref$|Fn::)/.test(name)) return Object.fromEntries(members);
    const intrinsic = intrinsics[name] ?? (() => Symbol(`the intrinsic function ${name}`));
    return [argument].flat(Infinity).find((part) => typeof part === 'symbol') ?? intrinsic(argument);
  }

  const intrinsics: Record<string, (argument: any) => unknown> = {
    Ref: (logicalId: string) => {
      if (Object.hasOwn(pseudoParameters, logicalId)) return pseudoParameters[logicalId];
      const { Type, Properties: { StageName, FunctionName, Name } = {} } = resources[logicalId] ?? {};
      if (Type === 'AWS::ApiGateway::Stage') return resolve(StageName);
      if (Type === 'AWS::Lambda::Alias') return joined([functionArn(''), FunctionName, ':', Name]);
      return Type ? logicalId : Symbol(`a reference to ${logicalId}, which is not a resource of the stack`);
    },
    'Fn::GetAtt': ([logicalId, attribute]: [string, string]) => {
      const type = resources[logicalId]?.Type;
      const problem = Symbol(`the attribute ${attribute} of ${logicalId} (${type})`);
      return attributes[`${type}.${attribute}`]?.(logicalId) ?? problem;
    },
    'Fn::Join': ([separator, parts]: [string, string[]]) => parts.join(separator),
    'Fn::Select': ([index, list]: [number, string[]]) => list[index],
    'Fn::Split': ([separator, text]: [string, string]) => text.split(separator),
    // Because of the capturing group, every second part is a name, which `Ref` resolves.
    'Fn::Sub': (text: string) =>
      joined(text.split(/\$\{([^}]+)\}/).map((part, index) => (index % 2 ? { Ref: part } : part))),
  };
  const joined = (parts: unknown[]) => resolve({ 'Fn::Join': ['', parts] });

  return resolve;
}
