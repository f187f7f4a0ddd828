import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { EmulatorError } from '../emulator-error.ts';
import { createResolver, type TemplateResource } from './intrinsics.ts';
import { isModeled, resourceModels, type ResourceType, SKIPPED_TYPES } from './resources.ts';

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
 * @throws EmulatorError that lists all properties and intrinsic functions that are not supported, of resources that the
 *   API needs: its routes, authorizers, functions with their permissions, and the tables.
 */
export function parseTemplate(text: string) {
  const { Resources, Outputs } = JSON.parse(text) as {
    Resources: Record<string, TemplateResource>;
    Outputs: unknown;
  };
  const resolve = createResolver(Resources);
  const all = Object.entries(Resources).map(([logicalId, { Type: type, Properties = {}, Condition }]) => ({
    logicalId,
    type,
    properties: resolve(Properties) as Record<string, any>,
    hasCondition: Condition !== undefined,
  }));
  const isNeeded = neededByApi(all);
  const problems: string[] = [];
  const skippedTypes = new Set<string>();
  const notRun: string[] = [];
  const parsed: (Resource<ResourceType> & { type: string })[] = [];

  for (const resource of all) {
    const { logicalId, type, properties, hasCondition } = resource;
    if (SKIPPED_TYPES.has(type)) {
      skippedTypes.add(type);
    } else if (!isNeeded(resource)) {
      // The roles, policies and aliases of a function need no mention of their own.
      if (!/^AWS::(?:IAM::|Lambda::(?:Alias|Version)$)/.test(type)) notRun.push(`${logicalId} (${type})`);
    } else if (!isModeled(type)) {
      problems.push(`${logicalId}: the type ${type}`);
    } else {
      if (hasCondition) problems.push(`${logicalId} (${type}): Condition: not supported`);
      const { output, issues = [] } = v.safeParse<v.GenericSchema>(resourceModels[type], properties);
      for (const issue of issues) problems.push(`${logicalId} (${type}): ${describe(issue)}`);
      parsed.push({ type, logicalId, properties: output as Resource<ResourceType>['properties'] });
    }
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
    /** Types that only monitor, deploy, name or protect the stack. */
    skippedTypes: [...skippedTypes].toSorted(),
    /** Other resources that the API does not need, such as `Orders (AWS::SQS::Queue)`. */
    notRun,
  };
}

interface ResolvedResource {
  logicalId: string;
  type: string;
  properties: Record<string, any>;
}

/**
 * Returns a function that tells whether the API needs a resource: its routes, its authorizers, the functions that they
 * invoke with their aliases, roles and policies, and tables. A function that consumes a queue is not among them, nor is a
 * table that the emulator does not support and no function of the API refers to. If a property that decides is unknown,
 * the resource counts as needed, so that its problems are reported.
 */
function neededByApi(all: ResolvedResource[]): (resource: ResolvedResource) => boolean {
  const ofType = (type: string) => all.filter((resource) => resource.type === type);
  const uris = [
    ...ofType('AWS::ApiGateway::Method').map(({ properties }) => properties['Integration']?.Uri),
    ...ofType('AWS::ApiGateway::Authorizer').map(({ properties }) => properties['AuthorizerUri']),
  ];
  const ids = new Set(uris.map((uri) => /:function:(\w+)/.exec(String(uri))?.[1]));
  const functions = ofType('AWS::Lambda::Function').filter(({ logicalId }) => ids.has(logicalId));
  const roles = new Set(functions.map(({ properties }) => String(properties['Role']).split('/').at(-1)));
  const environments = JSON.stringify(functions.map(({ properties }) => properties['Environment']));

  return ({ logicalId, type, properties }) => {
    switch (type) {
      case 'AWS::Lambda::Function':
        return ids.has(logicalId);
      case 'AWS::Lambda::Alias':
      case 'AWS::Lambda::Version':
        return mayBeIn(ids, properties['FunctionName']);
      case 'AWS::IAM::Role':
        return roles.has(logicalId);
      case 'AWS::IAM::ManagedPolicy':
      case 'AWS::IAM::Policy':
        return mayBeIn(roles, properties['Roles']);
      case 'AWS::IAM::RolePolicy':
        return mayBeIn(roles, properties['RoleName']);
      case 'AWS::DynamoDB::GlobalTable':
      case 'AWS::DynamoDB::Table': {
        const isSupported = isModeled(type) && v.is(resourceModels[type], properties);
        return isSupported || new RegExp(`\\b${logicalId}\\b`).test(environments);
      }
      default:
        return isModeled(type);
    }
  };
}

/** Returns whether `known` contains one of the names or ARNs. A value that the template does not reveal counts as known. */
function mayBeIn(known: Set<unknown>, names: unknown): boolean {
  return [names ?? []]
    .flat()
    .some((name) => typeof name !== 'string' || known.has(name.split(/[:/]/).at(-1)));
}

/** Describes a value that a model rejects. A symbol in place of the value describes why the value is unknown. */
function describe(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue);
  if (issue.expected === 'never') return `${path}: not supported`;
  if (typeof issue.input === 'symbol') return `${path}: ${issue.input.description}`;
  return `${path}: ${issue.message}`;
}
