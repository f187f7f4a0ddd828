import { metricNamespace, metrics, serviceName, stackName } from '../../../shared/names.ts';
import { type StageName, stages } from '../../support/stages.ts';
import { readableTemplate, resourcesOf } from '../../support/stack-template.ts';
import { type Count, lambdaCounts, loggedRequests, metricOf, requestCounts } from './cloudwatch.ts';

/** Names of an alarm and an incident, metric values that must fire the alarm, and metric values that must not. */
type AlarmCase = [alarm: string, incident: string, firing: Count[], notFiring: Count[]];

export const templates = { staging: readableTemplate('staging'), production: readableTemplate('production') };

const THREE = [2, 3, 4];
const HOUR = Array.from({ length: 60 }, (_, minute) => minute);

/** Repeats the values of `counts` in each of the given minutes. */
function during(minutes: number[], counts: Count[]): Count[] {
  return minutes.flatMap((minute) => counts.map(([, metric, value]): Count => [minute, metric, value]));
}

// Together, `apiCases`, `functionCases` and `tableCases` return cases for exactly the alarms that a stage must have.

export function apiCases(stage: StageName): AlarmCase[] {
  const failed = (count: number) => [
    ...requests(stage, 2, '503', { 'error.responseType': 'AUTHORIZER_FAILURE' }),
    ...requests(stage, count - 2, '503', { integrationStatus: '200' }),
  ];
  const isBlocking = stages[stage].firewall.action === 'block';
  const tooLarge = isBlocking ? [] : largeBodies(stage);
  const [many, few] = [requests(stage, 1_000, '200'), requests(stage, 10, '200')];
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
    ...activeKeyCases(stage),
    missingLogCase(stage),
    ...(isBlocking ? firewallCases(stage) : []),
  ];
}

const activeKey = { 'authorizer.keyId': 'key_1' };
const ofFunction = { ...activeKey, awsEndpointRequestId: 'id', integrationStatus: '200' };
const withoutRecord = { 'error.responseType': 'ACCESS_DENIED' };
const expiredKey = { ...withoutRecord, 'authorizer.keyId': 'key_2', 'authorizer.reason': 'expired' };

function requests(stage: StageName, count: number, status: string, context = {}): Count[] {
  return requestCounts(templates[stage], count, { status, ...context });
}

/** If the web ACL does not block large bodies, Lambda rejects events over 6 MB. These rejections must fire no alarm. */
function largeBodies(stage: StageName): Count[] {
  return requests(stage, 100, '502', { ...activeKey, integrationStatus: '413' });
}

/** Cases of the alarms that count only requests with active API keys. */
function activeKeyCases(stage: StageName): AlarmCase[] {
  const active = (count: number, status: string) => requests(stage, count, status, ofFunction);
  const ofStrangers = [
    ...requests(stage, 100, '503', { 'error.responseType': 'AUTHORIZER_FAILURE' }),
    ...requests(stage, 100, '401', withoutRecord),
    ...requests(stage, 100, '401', expiredKey),
    ...requests(stage, 100, '415', { 'error.responseType': 'UNSUPPORTED_MEDIA_TYPE' }),
  ];
  const tolerated = [...active(1_000, '200'), ...active(5, '500'), ...ofStrangers, ...largeBodies(stage)];
  const oneOfThree = [...active(200, '200'), ...active(100, '400')];
  const throttled = requests(stage, 100, '429', { ...activeKey, 'error.responseType': 'THROTTLED' });
  const failing = [...active(1_000, '200'), ...active(7, '500')];
  const name = 'ApiRejectedRequests';
  return [
    ['ReleaseServerErrors', '7 failures in 1,007 requests with active keys', failing, tolerated],
    [
      name,
      'functions that return a 400 to everyone',
      during(THREE, active(10, '400')),
      during(HOUR, oneOfThree),
    ],
    [
      name,
      'a rejection of everyone for three minutes',
      during(THREE, active(10, '422')),
      during(HOUR, active(9, '422')),
    ],
    [
      name,
      'a rejection of everyone beside strangers',
      during(THREE, [...active(10, '415'), ...ofStrangers]),
      during(HOUR, [...active(10, '404'), ...throttled, ...ofStrangers]),
    ],
  ];
}

function missingLogCase(stage: StageName): AlarmCase {
  const withoutLog = requests(stage, 1, '200').filter(
    ([, metric]) => metric !== loggedRequests(templates[stage]),
  );
  // Log lines can arrive a minute after their requests, and API Gateway can omit some lines. Neither must fire the alarm.
  const late = HOUR.flatMap((minute): Count[] => [
    ...during(
      [minute],
      requests(stage, 1, '200').filter(([, metric]) => metric.startsWith('AWS/ApiGateway')),
    ),
    ...(minute % 5 < 3 ? ([[minute + 1, loggedRequests(templates[stage]), 1]] as Count[]) : []),
  ]);
  return ['MissingAccessLog', 'a lost logging role', during(HOUR.slice(0, 35), withoutLog), late];
}

function firewallCases(stage: StageName): AlarmCase[] {
  const attack = during(HOUR, firewallCounts(stage, 9_000, 1_000));
  const burst = during([2], firewallCounts(stage, 1_000, 0));
  const blocked = during([2, 7], firewallCounts(stage, 50, 0));
  return [
    ['FirewallBlocks', 'a firewall that blocks everyone', blocked, attack],
    ['FirewallBlocks', 'a firewall that blocks everyone for ten minutes', blocked, burst],
  ];
}

function firewallCounts(stage: StageName, blocked: number, allowed: number): Count[] {
  const dimensions = { WebACL: stackName(stage), Region: '${AWS::Region}', Rule: 'ALL' };
  const metric = (name: string) => metricOf('AWS/WAFV2', name, dimensions);
  const denied = requests(stage, blocked, '403', { 'error.responseType': 'WAF_FILTERED' });
  return [[2, metric('BlockedRequests'), blocked], [2, metric('AllowedRequests'), allowed], ...denied];
}

export function functionCases(stage: StageName, name: string): AlarmCase[] {
  const quiet = during([0, 3, 8, 13], lambdaCounts('Errors', name, 0));
  const crashes = (...minutes: number[]) => [...quiet, ...during(minutes, lambdaCounts('Errors', name, 1))];
  const throttles = (...minutes: number[]) => during(minutes, lambdaCounts('Throttles', name, 1));
  const cases: AlarmCase[] = [
    [`${name}Errors`, 'three crashes', crashes(2, 3, 4), crashes(2, 4)],
    [`${name}Throttles`, 'throttled invocations in ten minutes', throttles(2, 7), throttles(2)],
  ];
  if (name === 'Authorizer') {
    const lost = metricOf(metricNamespace, metrics.lostKeys.name, { service: serviceName(stage) });
    const denied = requests(stage, 6_000, '401', withoutRecord);
    cases.push(['AuthorizerLostKeys', 'a key without its record', [[2, lost, 1]], during(HOUR, denied)]);
  }
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
        const throttles = [2, 7].map((minute): Count => [minute, metric, 1]);
        return [
          `${name.slice('Storage'.length)}Throttles`,
          `throttles (${metric})`,
          throttles,
          [[2, metric, 100]],
        ];
      }),
    );
  });
}

/** Names of the alarms that fire, by what they do: wake somebody, send a mail, or roll back an update of the stack. */
interface Outcome {
  wakes: string[];
  mails: string[];
  gates: string[];
}

/** A situation that lasts for an hour: what happens in each minute, and exactly the alarms that must fire. */
type Scenario = [situation: string, everyMinute: Count[], Outcome];

/** Returns situations. Those that strangers or single clients cause must neither wake anybody nor stop a stack update. */
export function scenarios(stage: StageName): Scenario[] {
  const nothing: Outcome = { wakes: [], mails: [], gates: [] };
  const mail = (...mails: string[]): Outcome => ({ ...nothing, mails });
  const valid = requests(stage, 10, '200', ofFunction);
  const invalid = (count: number) => requests(stage, count, '400', ofFunction);
  const service = serviceName(stage);
  const ofAuthorizer = (name: string, count: number): Count => [
    2,
    metricOf(metricNamespace, name, { service }),
    count,
  ];
  const made = [...requests(stage, 6_000, '401', withoutRecord), ...lambdaCounts('Errors', 'Authorizer', 0)];
  const failing = requests(stage, 100, '500', { ...ofFunction });
  const isBlocking = stages[stage].firewall.action === 'block';
  return [
    ['a stranger sends 6,000 made-up keys a minute to an idle stage', made, nothing],
    ['a stranger sends 6,000 made-up keys a minute beside valid requests', [...made, ...valid], nothing],
    ['a poller sends an expired key to an idle stage', requests(stage, 12, '401', expiredKey), nothing],
    [
      'a poller sends an expired key beside valid requests',
      [...valid, ...requests(stage, 22, '401', expiredKey)],
      nothing,
    ],
    [
      'a stranger sends media types that mocks do not accept',
      requests(stage, 100, '415', { 'error.responseType': 'UNSUPPORTED_MEDIA_TYPE' }),
      nothing,
    ],
    ['a client with an active key sends only invalid requests', invalid(12), mail('ApiRejectedRequests')],
    ['a client sends invalid requests beside as many valid requests', [...valid, ...invalid(10)], nothing],
    [
      'the firewall blocks everyone',
      firewallCounts(stage, 1_000, 0),
      isBlocking ? mail('FirewallBlocks') : nothing,
    ],
    ['nobody sends a request', [], nothing],
    // test/functions/authorizer.test.ts proves when the authorizer counts a lost key.
    [
      'an authorizer misses the records of keys that it has allowed',
      [...requests(stage, 10, '401', withoutRecord), ofAuthorizer(metrics.lostKeys.name, 2)],
      { ...nothing, wakes: ['AuthorizerLostKeys'] },
    ],
    [
      'a version of the authorizer denies every key',
      [...requests(stage, 100, '401', withoutRecord), ...lambdaCounts('Errors', 'Authorizer', 0)],
      nothing,
    ],
    [
      'a version fails for every active key',
      failing,
      { wakes: ['ApiServerErrorShare', 'ApiServerErrors'], mails: [], gates: ['ReleaseServerErrors'] },
    ],
    [
      'the access log is lost',
      requests(stage, 60, '200').filter(([, metric]) => metric.startsWith('AWS/ApiGateway')),
      mail('MissingAccessLog'),
    ],
  ].map(
    ([situation, everyMinute, outcome]) =>
      [situation, during(HOUR, everyMinute as Count[]), outcome] as Scenario,
  );
}
