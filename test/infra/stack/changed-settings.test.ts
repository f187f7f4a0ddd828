import { describe, expect, test } from '@jest/globals';
import { App } from 'aws-cdk-lib';
import type { StageSettings } from '../../../infra/settings.ts';
import { PetStoreStack } from '../../../infra/stack/stack.ts';
import { templateOf } from '../../../infra/stack/template.ts';
import { stages } from '../../../infra/stages.ts';
import { functionNames, propertiesOf, readable } from '../../support/stack-template.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

// The only file that loads the CDK, which takes longer than its tests do.

// The CDK's validation plugins take a second for each stack; `cdk synth` runs them.
process.env['CDK_VALIDATION'] = 'false';

const {
  alarmEmail: _email,
  domain: _domain,
  firewall: _firewall,
  ...required
}: StageSettings = stages.staging;
const domain = {
  name: 'pets.example.com',
  certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/00000000-0000-0000-0000-000000000000',
  hostedZoneId: 'Z0000000000000000000',
};

const unchanged = changedStack({});
const repartitioned = changedStack({
  listPartitions: 4,
  recordedListPartitions: 2,
  authorizerCacheSeconds: 30,
});
const extended = changedStack({
  alarmEmail: 'operators@example.com',
  domain,
  firewall: { requestsPerMinutePerAddress: 11, requestsPerMinutePerKey: 22 },
  requestsPerSecond: 7,
  logRetentionDays: 30,
});

describe('a stage that gets more list partitions', () => {
  // Whatever is deployed or rolled back first, no pet is put where lists do not look.
  test('asks all of them for lists, and puts new pets where the last finished deployment asks', () => {
    const { ListPets, CreatePet } = repartitioned.Resources;
    const partitions = [ListPets, CreatePet].map(({ Properties }) => Properties.Environment.Variables);
    expect(partitions).toMatchObject([{ LIST_PARTITIONS: '4' }, { LIST_PARTITIONS: '2' }]);
  });

  test('has new versions of the functions that this changes, and of no others', () => {
    expect(newVersions(repartitioned)).toEqual(['ListPets', 'CreatePet']);
    expect(newVersions(extended)).toEqual([]);
  });
});

// API Gateway serves what was deployed last: it applies no change, not even of the default address, before.
test.each([
  ['the authorizer', repartitioned],
  ['the domain', extended],
])('a changed setting of %s makes a new deployment of the API', (_what, { ids }) => {
  const [before, after] = [unchanged.ids, ids].map((all) => all.get('ApiRestApiDeployment'));
  expect(after).toMatch(/^ApiRestApiDeployment/);
  expect(after).not.toBe(before);
});

describe('the domain of a stage', () => {
  const types = [
    'AWS::ApiGateway::DomainName',
    'AWS::ApiGateway::BasePathMapping',
    'AWS::Route53::RecordSet',
  ];

  test('has the certificate, accepts TLS 1.2 with forward secrecy or 1.3, and leads to the stage', () => {
    expect(types.flatMap((type) => propertiesOf(extended, type))).toEqual([
      {
        DomainName: domain.name,
        RegionalCertificateArn: domain.certificateArn,
        EndpointConfiguration: { Types: ['REGIONAL'] },
        SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
        EndpointAccessMode: 'STRICT',
      },
      // No base path, which would come before /v1.
      {
        DomainName: '${ApiDomain}',
        RestApiId: '${ApiRestApi}',
        Stage: '${ApiRestApiDeploymentStagestaging}',
      },
      {
        HostedZoneId: domain.hostedZoneId,
        Name: domain.name,
        Type: 'A',
        AliasTarget: {
          DNSName: '${ApiDomain.RegionalDomainName}',
          HostedZoneId: '${ApiDomain.RegionalHostedZoneId}',
        },
      },
    ]);
  });

  test('is the only address of the API', () => {
    expect(extended.Resources.ApiRestApi.Properties.DisableExecuteApiEndpoint).toBe(true);
    expect(extended.Outputs['BaseAddress'].Value).toBe('https://pets.example.com/v1');
  });

  test('does not exist if the settings name none, and the default address works', () => {
    expect(types.flatMap((type) => propertiesOf(unchanged, type))).toEqual([]);
    expect(unchanged.Resources.ApiRestApi.Properties.DisableExecuteApiEndpoint).toBe(false);
  });
});

test('the topic of alarms is subscribed to by the e-mail address of the settings, if there is one', () => {
  const [none, some] = [unchanged, extended].map((stack) => propertiesOf(stack, 'AWS::SNS::Subscription'));
  expect(none).toEqual([]);
  expect(some).toEqual([
    { Protocol: 'email', Endpoint: 'operators@example.com', TopicArn: '${MonitoringAlarmTopic}' },
  ]);
});

test('the web ACL takes its limits from the settings, and does not exist without them', () => {
  const limits = extended.Resources.Firewall.Properties.Rules.map(
    ({ Statement }: any) => Statement.RateBasedStatement?.Limit,
  );
  expect(limits).toEqual([11, 22, undefined, undefined]);
  expect(Object.keys(unchanged.Resources)).not.toContain('Firewall');
});

describe('the removal of a deprecated operation', () => {
  const outdir = temporaryFolder();
  // As docs/interface.md has it.
  const sunset = Date.parse('2030-12-05T00:00:00Z');
  const dayMilliseconds = 86_400_000;
  const first = sunset - 180 * dayMilliseconds;

  test.each([
    ['not announced', 'more than 180 days before', first - 1, []],
    [
      'announced',
      '180 days before',
      first,
      [expect.stringMatching(/^getPet is to be removed on 2030-12-05:/)],
    ],
    [
      'announced',
      'a year after',
      sunset + 365 * dayMilliseconds,
      [expect.stringMatching(/^getPet is to be/)],
    ],
  ])('is %s by a synth %s', (_what, _when, today, warnings) => {
    const app = new App({ outdir, context: { 'aws:cdk:bundling-stacks': [] } });
    const { node } = new PetStoreStack(app, 'Stack', {
      stage: 'staging',
      settings: required,
      today: new Date(today),
    });
    expect(
      node.metadata.filter(({ type }) => type === 'aws:cdk:warning').map(({ data }) => data as string),
    ).toEqual(warnings);
  });
});

/** @returns the readable stack of staging under changed settings, and its logical ids by their short forms. */
function changedStack(changes: Partial<StageSettings>) {
  const template = templateOf({ stage: 'staging', settings: { ...required, ...changes } });
  const stack = readable(template);
  const ids = Object.keys(template.Resources);
  return { ...stack, ids: new Map(Object.keys(stack.Resources).map((name, index) => [name, ids[index]])) };
}

/** @returns the functions of which CloudFormation publishes a new version. */
function newVersions({ ids }: typeof unchanged): string[] {
  return functionNames.filter(
    (name) => unchanged.ids.get(`${name}CurrentVersion`) !== ids.get(`${name}CurrentVersion`),
  );
}
