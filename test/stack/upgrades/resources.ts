import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { stackName } from '../../../shared/names.ts';
import type { StackTemplate } from '../../support/stack-template.ts';

interface ResourceModel {
  /** Properties whose values together identify a resource in an account and region. */
  name: string[];
  /** What is lost with the resource. If undefined, the resource matters only if it is retained or has a fixed name. */
  holds?: string;
}

/** Resources whose replacement or deletion loses data, addresses or subscriptions, or that have fixed names or are retained. */
const models: Record<string, ResourceModel> = {
  'AWS::ApiGateway::Account': { name: [] },
  'AWS::ApiGateway::BasePathMapping': {
    name: ['DomainName', 'BasePath'],
    holds: 'the base URL with the custom domain',
  },
  'AWS::ApiGateway::DomainName': { name: ['DomainName'], holds: 'the base URL with the custom domain' },
  'AWS::ApiGateway::RestApi': { name: [], holds: 'the base URL' },
  'AWS::ApiGateway::Stage': { name: ['RestApiId', 'StageName'], holds: 'the base URL' },
  'AWS::DynamoDB::GlobalTable': { name: ['TableName'], holds: 'its items' },
  'AWS::IAM::Role': { name: ['RoleName'] },
  'AWS::Lambda::Alias': { name: ['FunctionName', 'Name'], holds: 'the version that it points to' },
  'AWS::Lambda::Function': { name: ['FunctionName'], holds: 'its earlier versions' },
  'AWS::Logs::LogGroup': { name: ['LogGroupName'], holds: 'its log' },
  'AWS::Route53::RecordSet': {
    name: ['HostedZoneId', 'Name', 'Type'],
    holds: 'the DNS record of the custom domain',
  },
  'AWS::SNS::Subscription': { name: [], holds: "its subscriber's confirmation" },
  'AWS::SNS::Topic': { name: ['TopicName'], holds: 'its subscriptions' },
};

/** The properties of each type whose change replaces a resource, in the copy of AWS's specification that `cdk diff` uses. */
const replacing = replacingProperties();

function replacingProperties(): Map<string, string[]> {
  const { schema } = JSON.parse(gunzipSync(readFileSync('node_modules/aws-cdk/db.json.gz')).toString());
  return new Map(
    Object.keys(models).map((type) => {
      const { properties } = schema.resource.entities.find((one: any) => one.cloudFormationType === type);
      const found = Object.entries<any>(properties).filter(([, one]) => one.causesReplacement === 'yes');
      return [type, found.map(([name]) => name)];
    }),
  );
}

/** The facts about a resource that released.json contains. */
export interface Resource {
  type: string;
  /** Present if the resource remains when CloudFormation removes it from the stack or replaces it. */
  isRetained?: true;
  /** Values of the properties in the type's model. `${Id}` is a reference to the resource with the logical id `Id`. */
  properties?: Record<string, unknown>;
  /** Types of a table's key attributes. */
  attributes?: Record<string, string>;
  /** Keys and projections of a table's indexes, such as `HASH partition, RANGE id, ALL`. */
  indexes?: Record<string, string>;
}

/** Resources of a stack by logical id. */
export type Resources = Record<string, Resource>;

/** Returns the facts about the resources of a stack. @param stage name of the stack's stage, or `account` */
export function resourcesIn(stage: string, { Resources: resources }: StackTemplate): Resources {
  const valueOf = valuesIn(stackName(stage));
  const modeled = Object.entries<any>(resources).flatMap(
    ([id, { Type: type, Properties = {}, ...policies }]) => {
      const model = models[type];
      const isRetained = [policies.DeletionPolicy, policies.UpdateReplacePolicy].every((policy) =>
        String(policy).startsWith('Retain'),
      );
      if (!model) return [];
      const values = [...new Set([...model.name, ...replacing.get(type)!])].map((name) => {
        const value = Properties[name];
        return [name, name === 'KeySchema' ? textOfKeys(value) : valueOf(value)];
      });
      const properties = Object.fromEntries(values.filter(([, value]) => value !== undefined));
      if (!isRetained && !model.holds && Object.keys(properties).length === 0) return [];
      const resource: Resource = {
        type,
        ...(isRetained && { isRetained }),
        ...(Object.keys(properties).length > 0 && { properties }),
        ...keysOf(Properties),
      };
      return [[id, resource] as const];
    },
  );
  return Object.fromEntries(modeled);
}

/** Returns the key attributes and the indexes in the properties of a table. */
function keysOf({
  AttributeDefinitions,
  GlobalSecondaryIndexes = [],
}: any): Pick<Resource, 'attributes' | 'indexes'> {
  if (!AttributeDefinitions) return {};
  return {
    attributes: Object.fromEntries(
      AttributeDefinitions.map((one: any) => [one.AttributeName, one.AttributeType]),
    ),
    indexes: Object.fromEntries(
      GlobalSecondaryIndexes.map(({ IndexName, KeySchema, Projection }: any) => [
        IndexName,
        `${textOfKeys(KeySchema)}, ${Projection.ProjectionType}`,
      ]),
    ),
  };
}

function textOfKeys(keySchema: any): string {
  return keySchema.map(({ KeyType, AttributeName }: any) => `${KeyType} ${AttributeName}`).join(', ');
}

/** Returns a function that evaluates the intrinsic functions in a value, so that equal values have equal texts. */
function valuesIn(stack: string) {
  const pseudo: Record<string, string> = {
    'AWS::StackName': stack,
    'AWS::StackId': `arn:aws:cloudformation:eu-central-1:123456789012:stack/${stack}/01234567-89ab-cdef-0123-456789abcdef`,
  };
  return function valueOf(value: any): any {
    if (Array.isArray(value)) return value.map(valueOf);
    if (typeof value !== 'object' || value === null) return value;
    const [[name, argument] = []] = Object.entries<any>(value);
    switch (name) {
      case 'Ref':
        return pseudo[argument] ?? `\${${argument}}`;
      case 'Fn::GetAtt':
        return `\${${argument.join('.')}}`;
      case 'Fn::Join':
        return valueOf(argument[1]).join(argument[0]);
      case 'Fn::Select':
        return valueOf(argument[1])[argument[0]];
      case 'Fn::Split':
        return valueOf(argument[1]).split(argument[0]);
      default:
        return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, valueOf(member)]));
    }
  };
}

/** Returns the text of a resource's name, or undefined if CloudFormation chooses the name. */
function fixedName({ type, properties = {} }: Resource): string | undefined {
  const { name } = models[type]!;
  // A domain has at most one mapping without a base path, so such a mapping also has a fixed name.
  const values = name.map((one) => properties[one] ?? (one === 'BasePath' ? '(none)' : undefined));
  return name.length === 0 || values.includes(undefined)
    ? undefined
    : `${type} ${values.map(String).join(' ')}`;
}

const ACCEPT = 'If you mean to lose it, run npm run release:stacks.';

/** Returns a sentence for each problem of an update from the resources of a stack to other resources. */
export function problemsOfUpdate(before: Resources, after: Resources): string[] {
  const holders = new Map(Object.entries(before).map(([id, resource]) => [fixedName(resource), id]));
  return [
    ...Object.entries(before).flatMap(([id, resource]) => problemsOfResource(id, resource, after[id])),
    ...Object.entries(after).flatMap(([id, resource]) => {
      const name = fixedName(resource);
      const holder = holders.get(name);
      if (name === undefined || holder === undefined || id in before) return [];
      return `${id} cannot be created, because ${holder} still has the same fixed name. Restore the logical id ${holder}, or choose another name.`;
    }),
  ];
}

function problemsOfResource(id: string, before: Resource, after: Resource | undefined): string[] {
  const { holds } = models[before.type]!;
  const which = `${id} (${before.type})`;
  if (!after) {
    if (!holds && !before.isRetained) return [];
    const effect = `The stack would ${before.isRetained ? 'no longer use' : 'delete'} ${which}`;
    return [
      `${effect}${holds ? ` and ${holds}` : ''}. Restore its logical id, which follows from the ids of its constructs. ${ACCEPT}`,
    ];
  }
  if (after.type !== before.type)
    return [
      `${which} would become ${after.type}, which CloudFormation rejects. Give the new construct another id.`,
    ];
  const changed = replacing
    .get(before.type)!
    .filter((name) => !isDeepStrictEqual(before.properties?.[name], after.properties?.[name]));
  return [
    ...changed.map(
      (name) =>
        `CloudFormation would replace ${which}${holds ? ` and lose ${holds}` : ''}, because ${name} changes. Restore the value. ${ACCEPT}`,
    ),
    ...(before.isRetained && !after.isRetained
      ? [`${which} would no longer outlive the stack. Restore its removal policy. ${ACCEPT}`]
      : []),
    ...problemsOfKeys(which, before, after),
  ];
}

/**
 * Returns the problems of a table's keys. DynamoDB creates one index per update, and CloudFormation may fail if an update
 * also deletes an index.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-globaltable.html
 */
function problemsOfKeys(which: string, before: Resource, after: Resource): string[] {
  const [old, current] = [before.indexes ?? {}, after.indexes ?? {}];
  const kept = Object.keys(old).filter((name) => name in current);
  const updated = [...Object.keys(old), ...Object.keys(current)].filter((name) => !kept.includes(name));
  const redefined = kept.filter((name) => old[name] !== current[name]);
  const attributes = Object.entries(before.attributes ?? {}).filter(
    ([name, type]) => type !== (after.attributes?.[name] ?? type),
  );
  return [
    ...redefined.map(
      (name) => `The index ${name} of ${which} cannot change. Add an index with another name.`,
    ),
    ...attributes.map(([name]) => `The type of ${name} in ${which} cannot change. Use another attribute.`),
    ...(updated.length > 1
      ? [
          `${which} would add or delete ${updated.length} indexes (${updated.join(', ')}), but an update can only add or delete one. Deploy and release them one after the other.`,
        ]
      : []),
  ];
}
