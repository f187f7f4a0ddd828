import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedSynthesis } from '../support/assembly.ts';
import { readable, readableTemplate, stageNames } from '../support/stack-template.ts';
import { allSettings } from '../support/stages.ts';
import { variantTemplate } from './variants.ts';

const assembly = await sharedSynthesis();

test('the synthesis creates the account stack, and one stack per stage with tags and a dependency on the account stack', () => {
  const [service, dependsOnAccount] = ['pet-store', true];
  const stacks = Object.entries<any>(
    JSON.parse(readFileSync(join(assembly, 'manifest.json'), 'utf8')).artifacts,
  )
    .filter(([, { type }]) => type === 'aws:cloudformation:stack')
    .map(([name, { properties, dependencies }]) => {
      const { terminationProtection: isProtected, tags } = properties;
      return {
        name,
        ...tags,
        isProtected,
        dependsOnAccount: dependencies.includes('PetStore-account'),
      };
    });
  expect(stacks).toEqual([
    { name: 'PetStore-account', service, isProtected: false, dependsOnAccount: false },
    { name: 'PetStore-staging', service, stage: 'staging', isProtected: false, dependsOnAccount },
    { name: 'PetStore-production', service, stage: 'production', isProtected: true, dependsOnAccount },
  ]);
});

// A fixed name would prevent CloudFormation from replacing the resource and from creating a second stack. The dashboard and
// the web ACL have the name of the stack, because CloudFormation replaces them only if their name changes.
test('CloudFormation chooses the names of resources', () => {
  const chosen = /^(Alarm|Application|DeploymentGroup|Function|LogGroup|ManagedPolicy|Role|Table|Topic)Name$/;
  const named = Object.entries<any>(readableTemplate('production').Resources).flatMap(
    ([name, { Properties = {} }]) =>
      Object.keys(Properties)
        .filter((property) => chosen.test(property))
        .filter(
          (property) => !/^\$\{|\$\{AWS::StackId\}$|CurrentVersion\.Version\}$/.test(Properties[property]),
        )
        .map((property) => `${name} ${property}`),
  );
  expect(named).toEqual([]);
});

describe('the outputs', () => {
  test('are the base URL, the API key table and the topics', () => {
    expect(outputsOf(readableTemplate('production'))).toEqual({
      BaseUrl:
        'https://${ApiRestApi}.execute-api.${AWS::Region}.${AWS::URLSuffix}/${ApiRestApiDeploymentStageproduction}/v1',
      ApiKeysTable: '${StorageApiKeys}',
      AlarmTopic: '${MonitoringAlarmTopic}',
      NoticeTopic: '${MonitoringNoticeTopic}',
    });
  });

  // Operators call the stage itself, so the public URL is not its base URL.
  test('contain the base URL with the custom domain, and the public URL', async () => {
    expect(outputsOf(readable(await variantTemplate('everySetting')))).toMatchObject({
      BaseUrl: 'https://api.example.com/v1',
      PublicUrl: allSettings.publicUrl,
    });
  });
});

test('the stack of a stage contains neither account settings nor the name of another stage', () => {
  for (const stage of stageNames) {
    const text = JSON.stringify(readableTemplate(stage));
    expect(text).not.toContain('AWS::ApiGateway::Account');
    expect(text).not.toContain(stageNames.find((name) => name !== stage)!);
  }
});

// CloudFormation rejects circular dependencies, but synthesis does not detect them.
test('the resources have no circular dependencies', async () => {
  for (const template of [readableTemplate('production'), readable(await variantTemplate('everySetting'))]) {
    const all = Object.entries(template.Resources).map(([id, one]) => ({ id, needs: dependenciesOf(one) }));
    let waiting = all;
    // As in CloudFormation, each round creates the resources that do not depend on a waiting resource.
    for (let round = 0; round < all.length; round += 1)
      waiting = waiting.filter(({ needs }) => waiting.some(({ id }) => needs.includes(id)));
    expect(waiting).toEqual([]);
  }
});

function dependenciesOf({ DependsOn = [], ...resource }: any): string[] {
  return [...DependsOn, ...Array.from(JSON.stringify(resource).matchAll(/\$\{(\w+)/g), ([, id]) => id)];
}

function outputsOf({ Outputs }: { Outputs: Record<string, any> }): Record<string, string> {
  return Object.fromEntries(Object.entries(Outputs).map(([name, { Value }]) => [name, Value]));
}
