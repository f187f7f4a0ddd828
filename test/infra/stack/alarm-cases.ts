import { serviceName, stackName } from '../../../shared/names.ts';
import { type StageName, stages } from '../../support/stages.ts';
import { readableTemplate, resourcesOf } from '../../support/stack-template.ts';
import { type Count, lambdaCounts, metricOf, requestCounts } from './cloudwatch.ts';

/** Names of an alarm and an incident, metric values that must fire the alarm, and metric values that must not. */
type AlarmCase = [alarm: string, incident: string, firing: Count[], notFiring: Count[]];

export const templates = { staging: readableTemplate('staging'), production: readableTemplate('production') };

const THREE = [2, 3, 4];
const HOUR = Array.from({ length: 60 }, (_, minute) => minute);

/** Repeats the values of `counts` in each of the given minutes. */
function during(minutes: number[], counts: Count[]): Count[] {
  return minutes.flatMap((minute) => counts.map(([, metric, value]): Count => [minute, metric, value]));
}

// Each function returns cases for exactly the alarms that the stage must have.

export function apiCases(stage: StageName): AlarmCase[] {
  const requests = (count: number, status: string, context = {}) =>
    requestCounts(templates[stage], count, { status, ...context });
  const failed = (count: number) => [
    ...requests(2, '503', { 'error.responseType': 'AUTHORIZER_FAILURE' }),
    ...requests(count - 2, '503', { integrationStatus: '200' }),
  ];
  // If the web ACL does not block large bodies, Lambda rejects events over 6 MB. These rejections must fire no alarm.
  const isBlocking = stages[stage].firewall.action === 'block';
  const tooLarge = isBlocking ? [] : requests(100, '502', { integrationStatus: '413' });
  const [many, few] = [requests(1_000, '200'), requests(10, '200')];
  const latency = metricOf('AWS/ApiGateway', 'Latency', { ApiName: serviceName(stage), Stage: stage });
  const slow = [2, 7, 12].map((minute): Count => [minute, latency, 2_000]);
  return [
    [
      'ApiServerErrors',
      '7 failures in 1,007 requests',
      [...many, ...failed(7)],
      [...many, ...failed(6), ...tooLarge],
    ],
    [
      'ApiServerErrorShare',
      '3 failures in 13 requests',
      [...few, ...failed(3)],
      [...few, ...failed(2), ...tooLarge],
    ],
    ['ApiLatency', 'slow responses for 15 minutes', slow, [...slow.slice(1), [17, latency, 1_999]]],
    ...rejectionCases(requests),
    ...(isBlocking ? firewallCases(stage) : []),
  ];
}

function rejectionCases(requests: (count: number, status: string, context?: object) => Count[]): AlarmCase[] {
  const denied = (count: number) => requests(count, '401', { 'error.responseType': 'ACCESS_DENIED' });
  const invalid = (count: number) => requests(count, '400', { awsEndpointRequestId: 'id' });
  const withoutKey = [
    ...requests(100, '404'),
    ...requests(100, '401', { 'error.responseType': 'UNAUTHORIZED' }),
    ...requests(100, '403', { 'error.responseType': 'WAF_FILTERED' }),
  ];
  const oneOfThousand = [...requests(999, '200'), ...denied(1)];
  const oneOfThree = [...requests(200, '200'), ...invalid(100)];
  const name = 'ApiRejectedRequests';
  return [
    [name, 'an authorizer that denies everyone', during(THREE, denied(10)), during(HOUR, oneOfThousand)],
    [name, 'an empty API keys table', during(THREE, denied(10)), during(HOUR, withoutKey)],
    [name, 'functions that return a 400 to everyone', during(THREE, invalid(10)), during(HOUR, oneOfThree)],
    [name, 'a rejection of everyone for three minutes', during(THREE, invalid(10)), during(HOUR, invalid(9))],
  ];
}

function firewallCases(stage: StageName): AlarmCase[] {
  const dimensions = { WebACL: stackName(stage), Region: '${AWS::Region}', Rule: 'ALL' };
  const blocked = metricOf('AWS/WAFV2', 'BlockedRequests', dimensions);
  const allowed = metricOf('AWS/WAFV2', 'AllowedRequests', dimensions);
  const attack = HOUR.flatMap((minute): Count[] => [
    [minute, blocked, 9_000],
    [minute, allowed, 1_000],
  ]);
  return [['FirewallBlocks', 'a firewall that blocks everyone', [[2, blocked, 50]], attack]];
}

export function functionCases(stage: StageName, name: string): AlarmCase[] {
  const [newVersion, oldVersion] = [`\${${name}CurrentVersion.Version}`, '7'];
  const noErrors = [newVersion, oldVersion].flatMap((version) => lambdaCounts('Errors', name, version, 0));
  const quiet = during([0, 3, 8, 13], noErrors);
  const crashes = (version: string, ...minutes: number[]) => [
    ...quiet,
    ...during(minutes, lambdaCounts('Errors', name, version, 1)),
  ];
  const throttle = lambdaCounts('Throttles', name, oldVersion, 1);
  const cases: AlarmCase[] = [
    [`${name}Errors`, 'three crashes', crashes(oldVersion, 2, 3, 4), crashes(oldVersion, 2, 4)],
    [`${name}Throttles`, 'a throttled invocation', throttle, quiet],
  ];
  return cases;
}

export function tableCases(stage: StageName): AlarmCase[] {
  const tables = resourcesOf(templates[stage], 'AWS::DynamoDB::GlobalTable');
  return tables.flatMap(([name, { Properties }]) => {
    const table = { TableName: `\${${name}}` };
    const indexes: any[] = Properties['GlobalSecondaryIndexes'] ?? [];
    const ofIndexes = indexes.map(({ IndexName }) => ({ ...table, GlobalSecondaryIndexName: IndexName }));
    return [table, ...ofIndexes].flatMap((target) =>
      ['ReadThrottleEvents', 'WriteThrottleEvents'].map((event): AlarmCase => {
        const metric = metricOf('AWS/DynamoDB', event, target);
        return [`${name.slice('Storage'.length)}Throttles`, metric, [[2, metric, 1]], [[2, metric, 0]]];
      }),
    );
  });
}
