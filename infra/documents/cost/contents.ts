import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collections } from '../../../shared/contract/operations.ts';
import { serviceTag, stackName } from '../../../shared/names.ts';
import { type Stage, stagesOf } from '../../settings.ts';
import { stages } from '../../stages.ts';
import { synthesize } from '../../synthesize.ts';

/** A stage, with the numbers in its template on which its cost depends. */
export interface StageContents {
  stage: Stage;
  /** Number of metrics that the alarms evaluate. An alarm can evaluate several metrics. */
  alarmMetrics: number;
  /** Number of rules of CloudWatch Contributor Insights. */
  insightRules: number;
  webAcls: number;
  webAclRules: number;
  dashboards: number;
  /** Size in bytes of a line in the access log: of a list, and of a request without an API key that gets a 404. */
  accessLogBytes: { list: number; anonymous: number };
  /** Memory size of each function in MB. */
  functionMegabytes: number;
  /** Number of requests that X-Ray records in each second before it records only a share. */
  tracesPerSecond: number;
  /** Sum of the days for which AWS Backup keeps a daily backup and its copies, or 0 without backups. */
  backupDays: number;
}

interface Template {
  Resources: Record<string, { Type: string; Properties: any }>;
}

/** Synthesizes the stages in `infra/stages.ts` and counts the contents of their templates. */
export async function contentsOfStages(): Promise<StageContents[]> {
  const assembly = mkdtempSync(join(tmpdir(), `${serviceTag}-cost-`));
  try {
    await synthesize(assembly);
    return stagesOf(stages).map((stage) => {
      const template = readFileSync(join(assembly, `${stackName(stage.name)}.template.json`), 'utf8');
      return { stage, ...contentsOf(JSON.parse(template)) };
    });
  } finally {
    rmSync(assembly, { recursive: true, force: true });
  }
}

/** Returns the numbers in the template of a stage. */
export function contentsOf({ Resources }: Template): Omit<StageContents, 'stage'> {
  const ofType = (type: string) => Object.values(Resources).filter(({ Type }) => Type === type);
  const tables = ofType('AWS::DynamoDB::GlobalTable');
  const webAcls = ofType('AWS::WAFv2::WebACL');
  const alarms = ofType('AWS::CloudWatch::Alarm').map(({ Properties }) => Properties);
  const { Format } = ofType('AWS::ApiGateway::Stage')[0]!.Properties.AccessLogSetting;
  return {
    alarmMetrics: sum(alarms.map(metricsOfAlarm)),
    insightRules: sum(tables.map(({ Properties }) => insightRulesOfTable(Properties))),
    webAcls: webAcls.length,
    webAclRules: sum(webAcls.map(({ Properties }) => Properties.Rules.length)),
    dashboards: ofType('AWS::CloudWatch::Dashboard').length,
    accessLogBytes: { list: lineBytes(Format, ofList), anonymous: lineBytes(Format, withoutKey) },
    functionMegabytes: ofType('AWS::Lambda::Function')[0]!.Properties.MemorySize,
    tracesPerSecond: sum(
      ofType('AWS::XRay::SamplingRule').map(({ Properties }) => Properties.SamplingRule.ReservoirSize),
    ),
    backupDays: sum(ofType('AWS::Backup::BackupPlan').map(({ Properties }) => daysOfBackups(Properties))),
  };
}

/**
 * Values of API Gateway's `$context` for a list, in their usual form.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
const ofList: Record<string, string> = {
  requestId: '0d8a1b1e-3f1c-4b53-8a0a-2f4a2c9be1a7',
  extendedRequestId: 'L0ckDHhXFiAFe8Q=',
  requestTime: '26/Nov/2026:12:00:00 +0000',
  'authorizer.keyId': 'key_0123456789abcdef0123',
  'authorizer.reason': '-',
  domainName: 'a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com',
  tlsVersion: 'TLSv1.3',
  cipherSuite: 'TLS_AES_128_GCM_SHA256',
  httpMethod: 'GET',
  resourcePath: collections[0].operations.list.path,
  status: '200',
  'error.responseType': '-',
  awsEndpointRequestId: '0d8a1b1e-3f1c-4b53-8a0a-2f4a2c9be1a7',
  integrationStatus: '200',
  responseLatency: '25',
  'authorizer.latency': '0',
  'integration.latency': '20',
  responseLength: '2000',
  'identity.sourceIp': '203.0.113.100',
  'waf.status': '200',
  xrayTraceId: 'Root=1-5759e988-bd862e3fe1be46a994272793',
};

/** Values of `$context` for a request without an API key that gets a 404 from a mock integration. */
const withoutKey = {
  ...ofList,
  'authorizer.keyId': '-',
  resourcePath: '/{proxy+}',
  status: '404',
  awsEndpointRequestId: '-',
  integrationStatus: '-',
  'authorizer.latency': '-',
};

/** Returns the size of an access log line in bytes. @throws Error if `context` lacks a variable of the format */
function lineBytes(format: string, context: Record<string, string>): number {
  const line = format.replaceAll(/\$context\.([\w.]+)/g, (_match, variable: string) => {
    const value = context[variable];
    if (value === undefined)
      throw new Error(`Add the variable ${variable} to infra/documents/cost/contents.ts.`);
    return value;
  });
  return Buffer.byteLength(line);
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Returns the number of metrics of an alarm. The metric math expressions of an alarm are free. */
function metricsOfAlarm({ Metrics }: any): number {
  return Metrics ? Metrics.filter((metric: any) => metric.MetricStat).length : 1;
}

/** Returns the sum of the days for which a plan keeps a backup and its copies. */
function daysOfBackups({ BackupPlan }: any): number {
  const rules: any[] = BackupPlan.BackupPlanRule;
  const kept = rules.flatMap(({ Lifecycle, CopyActions }) => [{ Lifecycle }, ...CopyActions]);
  return sum(kept.map(({ Lifecycle }) => Lifecycle.DeleteAfterDays));
}

/**
 * Returns the number of rules for throttled keys of a table and its indexes: one for partition keys, and one for
 * combinations with the sort key, if any.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/contributorinsights_HowItWorks.html
 */
function insightRulesOfTable({ KeySchema, GlobalSecondaryIndexes = [], Replicas }: any): number {
  if (!Replicas[0].ContributorInsightsSpecification?.Enabled) return 0;
  return sum(
    [KeySchema, ...GlobalSecondaryIndexes.map((index: any) => index.KeySchema)].map((keys) => keys.length),
  );
}
