import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import type { StageSettings } from '../../infra/settings.ts';
import { addStacks } from '../../infra/stack/stack.ts';
import { emptyBundles, templateOf } from '../support/template-of.ts';
import type { Operation } from '../../shared/contract/operation.ts';
import { collections, operations } from '../../shared/contract/operations.ts';
import { stackName } from '../../shared/names.ts';
import { collectionTests } from '../collections/all.ts';
import { shortId } from '../support/logical-ids.ts';
import { domain, type StageName, stages } from '../support/stages.ts';
import { functionNames, propertiesOf, readable } from '../support/stack-template.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// Loading the CDK takes longer than running these tests, so the tests of changed templates are in one file.

const folder = temporaryFolder();
const bundles = emptyBundles(folder);
const unchanged = changedStack({});
const cachedFor30Seconds = changedStack({ authorizerCacheSeconds: 30 });
const alarmEmail = 'operators@example.com';
const { certificateArn, ...inZone } = domain;
const extended = changedStack({
  alarmEmail,
  domain: inZone,
  requestsPerSecond: 7,
  warmThroughput: { readUnitsPerSecond: 20_000, writeUnitsPerSecond: 8_000 },
  logRetentionDays: 30,
});
const traced = changedStack({ tracing: true });
const moved = changedStack({ domain: { name: domain.name, certificateArn, disableDefaultEndpoint: true } });

afterEach(() => {
  jest.restoreAllMocks();
});

const variablesOf = (name: string, stack: typeof unchanged) =>
  stack.Resources[name].Properties.Environment.Variables;

describe('a public URL', () => {
  const publicUrl = 'https://api.example.com/shop';
  const behindProxy = changedStack({ domain, publicUrl });

  test('is passed on only to the functions of operations', () => {
    for (const name of functionNames) {
      const expected = name === 'Authorizer' ? undefined : publicUrl;
      expect(variablesOf(name, behindProxy).PUBLIC_URL).toBe(expected);
      expect(variablesOf(name, unchanged)).not.toHaveProperty('PUBLIC_URL');
    }
  });

  test('publishes new versions only of the functions that use the setting', () => {
    const users = functionNames.filter((name) => name !== 'Authorizer');
    expect(newVersions(behindProxy)).toEqual(
      users.map((name) => expect.stringMatching(`^${name}CurrentVersion`)),
    );
    expect(newVersions(extended)).toEqual([]);
  });

  test('is an output of its own, because operators call the stage itself', () => {
    expect(behindProxy.Outputs['PublicUrl'].Value).toBe(publicUrl);
    expect(behindProxy.Outputs['BaseUrl'].Value).toBe(`https://${domain.name}/v1`);
  });
});

// API Gateway applies changes of an API, even of its default endpoint, only with a new deployment of the API.
test.each([
  ['the authorizer', cachedFor30Seconds],
  ['disableDefaultEndpoint', moved],
])('changing %s creates a new API deployment', (_what, stack) => {
  expect(newIds(stack)).toContainEqual(expect.stringMatching(/^ApiRestApiDeployment[\dA-F]{8}/));
});

describe('a custom domain', () => {
  test('maps to the stage and requires TLS with forward secrecy', () => {
    const { ApiDomain, ApiRestApi, ApiDomainRecord } = extended.Resources;
    const { SecurityPolicy, EndpointAccessMode } = ApiRestApi.Properties;
    const tls = { SecurityPolicy, EndpointAccessMode };
    expect(ApiDomain.Properties).toMatchObject({ DomainName: domain.name, ...tls });
    // The mapping must have no base path, because a base path would precede /v1 in URLs.
    const api = { RestApiId: '${ApiRestApi}', Stage: '${ApiRestApiDeploymentStagestaging}' };
    const mappings = propertiesOf(extended, 'AWS::ApiGateway::BasePathMapping');
    expect(mappings).toEqual([{ DomainName: '${ApiDomain}', ...api }]);
    const AliasTarget = expect.objectContaining({ DNSName: '${ApiDomain.RegionalDomainName}' });
    expect(ApiDomainRecord.Properties).toMatchObject({ Name: domain.name, AliasTarget });
  });

  test('gets a certificate from the stack if the settings contain a hosted zone but no certificate', () => {
    const DomainValidationOptions = [{ DomainName: domain.name, HostedZoneId: domain.hostedZoneId }];
    const { ApiCertificate, ApiDomain } = extended.Resources;
    expect(ApiCertificate.Properties).toMatchObject({ DomainName: domain.name, DomainValidationOptions });
    expect(ApiDomain.Properties.RegionalCertificateArn).toBe('${ApiCertificate}');
  });

  test('has a stack output with the DNS target instead of a DNS record if there is no hosted zone', () => {
    const { Resources, Outputs } = moved;
    expect(Resources.ApiDomain.Properties.RegionalCertificateArn).toBe(certificateArn);
    expect(Resources).not.toHaveProperty('ApiDomainRecord');
    expect(Outputs['DomainTarget'].Value).toBe('${ApiDomain.RegionalDomainName}');
  });

  test.each([
    ['keeps', extended, false],
    ['disables', moved, true],
  ])('is part of the base URL, and %s the default endpoint', (_what, { Resources, Outputs }, isDisabled) => {
    expect(Resources.ApiRestApi.Properties.DisableExecuteApiEndpoint).toBe(isDisabled);
    expect(Outputs['BaseUrl'].Value).toBe('https://api.example.com/v1');
  });
});

test('only a stage with tracing records traces', () => {
  const tracingOf = ({ Resources }: typeof unchanged) =>
    functionNames.map((name) => Resources[name].Properties.TracingConfig?.Mode);
  const stageOf = (stack: typeof unchanged) => propertiesOf(stack, 'AWS::ApiGateway::Stage')[0];
  expect(tracingOf(traced)).toEqual(functionNames.map(() => 'Active'));
  expect(tracingOf(unchanged)).toEqual(functionNames.map(() => undefined));
  expect([stageOf(traced), stageOf(unchanged)].map((one) => one.TracingEnabled)).toEqual([true, false]);
  // Without this permission, a function cannot record a trace that a client asks for.
  expect(JSON.stringify(unchanged.Resources)).not.toContain('xray:');
});

test('only the configured email address subscribes to the topics', () => {
  const [none, some] = [unchanged, extended].map((stack) => propertiesOf(stack, 'AWS::SNS::Subscription'));
  expect(none).toEqual([]);
  const topics = ['${MonitoringAlarmTopic}', '${MonitoringNoticeTopic}'];
  expect(some).toEqual(topics.map((TopicArn) => ({ Protocol: 'email', Endpoint: alarmEmail, TopicArn })));
});

test('the warm throughput applies to the tables of items and their indexes, and to idempotency records', () => {
  const warm = { ReadUnitsPerSecond: 20_000, WriteUnitsPerSecond: 8_000 };
  const logicalIds = Object.values(collectionTests).map(({ table }) => shortId(table.logicalId));
  for (const id of [...logicalIds, 'StorageIdempotencyRecords']) {
    const { WarmThroughput, GlobalSecondaryIndexes = [] } = extended.Resources[id].Properties;
    const ofIndexes = GlobalSecondaryIndexes.map((index: any) => index.WarmThroughput);
    expect(new Set([WarmThroughput, ...ofIndexes].map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify(warm)]),
    );
  }
  expect(extended.Resources.StorageApiKeys.Properties).not.toHaveProperty('WarmThroughput');
  expect(JSON.stringify(unchanged.Resources)).not.toContain('WarmThroughput');
});

test('a stage retains no data if retainData is false and all other settings are those of production', () => {
  const settings = { ...stages.production, retainData: false };
  const template = readable(templateOf({ stage: 'drill', settings }));
  expect(JSON.stringify(template)).not.toMatch(/production|staging|"DeletionProtectionEnabled":true/);
  const kept = Object.values<any>(template.Resources).filter((one) => /Retain/.test(one.DeletionPolicy));
  const withData = kept.filter(({ Type }) => /^AWS::(?:DynamoDB|Logs|SNS)::/.test(Type));
  expect(withData).toEqual([]);
});

test.each([
  ['2030-06-07T23:59:59Z', 0],
  ['2030-06-08T00:00:00Z', 1],
  ['2031-12-05T00:00:00Z', 1],
])('synthesis at %s prints %d sunset warnings', (today, count) => {
  const [since, sunset] = [new Date('2026-11-21'), new Date('2030-12-05')];
  const deprecation = { since, sunset, successor: '/v1/books', advice: 'List books instead.' } as const;
  const byId: Record<string, Operation> = operations;
  const { get } = collections[0].operations;
  jest.replaceProperty(byId, get.id, { ...get, deprecation });
  const warning = `${get.id} is scheduled for removal on 2030-12-05.`;
  const printed = annotationsOf('staging', {}, '', today).filter((line) => line.includes(warning));
  expect(printed).toHaveLength(count);
});

test('synthesis reports a missing email address and a certificate in the wrong region', () => {
  expect(annotationsOf('production', { domain }, 'us-east-1')).toEqual([
    expect.stringMatching(/^warning: alarmEmail in infra\/stages\.ts is null\. Enter an email address, /),
    expect.stringMatching(/^error: domain\.certificateArn .* in us-east-1, .* not in eu-central-1\. /),
  ]);
  for (const region of ['eu-central-1', ''])
    expect(annotationsOf('production', { domain, alarmEmail }, region)).toEqual([]);
});

/** Returns the staging template with changed settings and short logical ids. `ids` contains the full logical ids. */
function changedStack(changes: Partial<StageSettings>) {
  const template = templateOf({ stage: 'staging', settings: { ...stages.staging, ...changes } });
  return { ...readable(template), ids: Object.keys(template.Resources) };
}

/** Returns the warnings and errors of a stage's synthesis, which uses us-east-1 if `region` is empty, as the CDK CLI does. */
function annotationsOf(stage: StageName, settings: Partial<StageSettings>, region = '', day = '2029-01-01') {
  Object.assign(process.env, { AWS_REGION: region, CDK_DEFAULT_REGION: region || 'us-east-1' });
  const app = new App({ outdir: mkdtempSync(join(folder, 'app-')) });
  addStacks(app, [{ ...stages[stage], ...settings, name: stage }], bundles, new Date(day));
  const { metadata } = app.node.findChild(stackName(stage)).node;
  return metadata.flatMap(({ type, data }) =>
    /error|warning/.test(type) ? `${type.slice(8)}: ${data}` : [],
  );
}

function newVersions(stack: typeof unchanged): string[] {
  return newIds(stack).filter((id) => id.includes('Version'));
}

/** Returns the full logical ids that the unchanged staging template does not contain. */
function newIds({ ids }: typeof unchanged): string[] {
  return ids.filter((id) => !unchanged.ids.includes(id));
}
