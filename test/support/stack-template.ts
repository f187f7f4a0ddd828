import { afterAll } from '@jest/globals';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PetStoreStack, type PetStoreStackProps } from '../../infra/stack.ts';
import { type StageName, stages } from '../../infra/stages.ts';

// The CDK's validation plugins cost a second for each stack; `cdk synth` runs them.
process.env['CDK_VALIDATION'] = 'false';

const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'));

// The CDK would leave the folder of every synthesis behind.
const assemblies = mkdtempSync(join(tmpdir(), 'pet-store-templates-'));
afterAll(() => rmSync(assemblies, { recursive: true, force: true }));

export interface Resource {
  Type: string;
  Properties: Record<string, any>;
  DependsOn?: string[];
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
}

export const stageNames = Object.keys(stages) as StageName[];

/** An app without stacks, under the context of cdk.json, that makes no bundles. */
export function emptyApp(): App {
  return new App({
    context: {
      ...context,
      'aws:cdk:bundling-stacks': [],
      // Warnings are asked for where they are tested, and printed nowhere.
      '@aws-cdk/core:failSynthOnValidationErrors': false,
    },
    outdir: mkdtempSync(join(assemblies, 'app-')),
  });
}

/** The stack of a stage as `infra/app.ts` makes it, without bundles. */
export function petStoreStack(stage: StageName, props: Partial<PetStoreStackProps> = {}): PetStoreStack {
  return new PetStoreStack(emptyApp(), `PetStore-${stage}`, { stage, settings: stages[stage], ...props });
}

export function stackTemplate(stage: StageName, props?: Partial<PetStoreStackProps>): Template {
  return Template.fromStack(petStoreStack(stage, props));
}

export function resourcesOf(template: Template, type: string): [logicalId: string, resource: Resource][] {
  return Object.entries(template.findResources(type)) as [string, Resource][];
}

/** The resource that comes from the construct with this path, given without separators. */
export function resourceOf(template: Template, type: string, name: string): [string, Resource] {
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
export function permissionsOf(template: Template, aliasId: string): string[] {
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
