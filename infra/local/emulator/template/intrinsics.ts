import { isModeled } from './resources.ts';

/** Region and account of all resources in the emulator. */
export const region = 'us-east-1';
export const accountId = '000000000000';

/** A resource in a template before intrinsic functions are replaced. */
export interface TemplateResource {
  Type: string;
  Properties?: Record<string, unknown>;
  Condition?: string;
}

const pseudoParameters: Record<string, string> = {
  'AWS::AccountId': accountId,
  'AWS::Partition': 'aws',
  'AWS::Region': region,
};

/** Values of `Fn::GetAtt` by resource type and attribute. */
const attributes: Record<string, (logicalId: string) => string> = {
  'AWS::ApiGateway::RestApi.RootResourceId': (logicalId) => logicalId,
  'AWS::DynamoDB::GlobalTable.Arn': tableArn,
  'AWS::IAM::Role.Arn': (logicalId) => `arn:aws:iam::${accountId}:role/${logicalId}`,
  'AWS::Lambda::Function.Arn': functionArn,
  'AWS::Logs::LogGroup.Arn': (logicalId) => arnOf('logs', `log-group:${logicalId}:*`),
};

export function tableArn(name: string): string {
  return arnOf('dynamodb', `table/${name}`);
}

function functionArn(name: string): string {
  return arnOf('lambda', `function:${name}`);
}

function arnOf(service: string, resource: string): string {
  return `arn:aws:${service}:${region}:${accountId}:${resource}`;
}

/**
 * Returns a function that replaces the intrinsic functions in a value with their results. An intrinsic function that
 * the emulator cannot evaluate becomes a symbol that describes the problem. Only properties without an effect accept
 * symbols.
 */
export function createResolver(resources: Record<string, TemplateResource>) {
  function resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).map(([name, member]) => [name, resolve(member)] as const);
    if (!isIntrinsic(value)) return Object.fromEntries(members);

    const [name, argument] = members[0]!;
    return findSymbol(argument) ?? evaluate(name, argument);
  }

  function evaluate(name: string, argument: any): unknown {
    switch (name) {
      case 'Ref':
        return reference(argument);
      case 'Fn::GetAtt': {
        const [logicalId, attribute] = argument;
        return attributeOf(logicalId, attribute);
      }
      case 'Fn::Join': {
        const [separator, parts] = argument;
        return parts.join(separator);
      }
      case 'Fn::Select': {
        const [index, list] = argument;
        // The name of a resource that is not run is its logical id, which has no parts.
        if (list.length === 1 && isNotModeled(list[0])) return list[0];
        return list[index] ?? Symbol(`${name} of a missing element`);
      }
      case 'Fn::Split': {
        const [separator, text] = argument;
        return text.split(separator);
      }
      default:
        return Symbol(`the intrinsic function ${name}`);
    }
  }

  function reference(logicalId: string): unknown {
    if (Object.hasOwn(pseudoParameters, logicalId)) return pseudoParameters[logicalId];
    const resource = resources[logicalId];
    if (!resource) return Symbol(`a reference to ${logicalId}, which is not a resource of the stack`);
    const { Type: type, Properties: properties = {} } = resource;
    if (type === 'AWS::ApiGateway::Stage') return resolve(properties['StageName']);
    if (type === 'AWS::Lambda::Alias') {
      const name = resolve({ 'Fn::Join': [':', [properties['FunctionName'], properties['Name']]] });
      return typeof name === 'string' ? functionArn(name) : name;
    }
    return logicalId;
  }

  function attributeOf(logicalId: string, attribute: string): unknown {
    const type = resources[logicalId]?.Type;
    const valueOf = attributes[`${type}.${attribute}`];
    if (valueOf) return valueOf(logicalId);
    // Nothing runs under the address of a resource of another type, so its logical id is as good as any value.
    if (isNotModeled(logicalId)) return logicalId;
    return Symbol(`the attribute ${attribute} of ${logicalId} (${type})`);
  }

  function isNotModeled(logicalId: string): boolean {
    return Object.hasOwn(resources, logicalId) && !isModeled(resources[logicalId]!.Type);
  }

  return resolve;
}

function isIntrinsic(value: object): boolean {
  const [name = '', ...others] = Object.keys(value);
  return others.length === 0 && (name === 'Ref' || name.startsWith('Fn::'));
}

/** Finds a symbol in the argument of an intrinsic function, which can contain a nested list. */
function findSymbol(argument: unknown): symbol | undefined {
  return [argument].flat(Infinity).find((part) => typeof part === 'symbol');
}
