import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type StageName, stages } from '../../infra/stages.ts';
import { sharedSynthesis } from './assembly.ts';

// The templates of the stages as they are. Those of changed settings are in `changed-stack.ts`, which loads the CDK: a
// second for each test file.

export interface Resource {
  Type: string;
  Properties: Record<string, any>;
  DependsOn?: string[];
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
}

export interface StackTemplate {
  Resources: Record<string, Resource>;
  Outputs: Record<string, { Value: unknown }>;
}

const { assembly, code, stderr } = await sharedSynthesis();
if (code !== 0) throw new Error(`The synthesis failed:\n${stderr}`);

export const stageNames = Object.keys(stages) as StageName[];

/** As `cdk synth` makes it. */
export function stackTemplate(stage: StageName): StackTemplate {
  return JSON.parse(readFileSync(join(assembly, `PetStore-${stage}.template.json`), 'utf8'));
}

export function resourcesOf(
  { Resources }: StackTemplate,
  type: string,
): [logicalId: string, resource: Resource][] {
  return Object.entries(Resources).filter(([, { Type }]) => Type === type);
}

/** The resource that comes from the construct with this path, given without separators. */
export function resourceOf(template: StackTemplate, type: string, name: string): [string, Resource] {
  // The CDK appends eight digits of a hash to what the construct's path gives.
  const found = resourcesOf(template, type).filter(([id]) => id.slice(0, -8) === name);
  if (found.length !== 1) throw new Error(`There are ${found.length} resources ${name} of type ${type}.`);
  return found[0]!;
}

/** A value of a template as text, references written as in `Fn::Sub`: `${Table.Arn}/index/newest`. */
export function asText(value: any): string {
  if (typeof value === 'string') return value;
  if (value.Ref) return `\${${value.Ref}}`;
  if (value['Fn::GetAtt']) return `\${${value['Fn::GetAtt'].join('.')}}`;
  if (value['Fn::Join']) {
    const [separator, parts] = value['Fn::Join'];
    return parts.map(asText).join(separator);
  }
  return JSON.stringify(value);
}

/** From where API Gateway may invoke the alias: what follows `arn:…:execute-api:{region}:{account}:`. */
export function permissionsOf(template: StackTemplate, aliasId: string): string[] {
  const account = 'arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:';
  return resourcesOf(template, 'AWS::Lambda::Permission')
    .filter(([, { Properties }]) => asText(Properties['FunctionName']) === `\${${aliasId}}`)
    .map(
      ([
        ,
        {
          Properties: { Action, Principal, SourceArn },
        },
      ]) =>
        Action === 'lambda:InvokeFunction' && Principal === 'apigateway.amazonaws.com'
          ? asText(SourceArn).replace(account, '')
          : `${Action} by ${Principal}`,
    );
}

/** The functions of every stage as in the names of their resources: `ListPets`. */
export const functionNames = resourcesOf(stackTemplate('staging'), 'AWS::Lambda::Function').map(([id]) =>
  id.slice(0, -8),
);
