import { expect, test } from '@jest/globals';
import { collections } from '../../shared/contract/operations.ts';
import { createdMetric, metricNamespace, metrics } from '../../shared/names.ts';
import {
  propertiesOf,
  readableTemplate,
  resourcesOf,
  stageNames,
  watchedBy,
} from '../support/stack-template.ts';

/** Metrics that AWS documents. Each metric in a row exists with each set of dimensions in the row. */
const documented: [namespace: string, names: string, dimensions: string[]][] = [
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html
  ['AWS/ApiGateway', '4XXError 5XXError Count IntegrationLatency Latency', ['ApiName', 'ApiName Stage']],
  // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
  // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-view.html
  [
    'AWS/Lambda',
    'ConcurrentExecutions Duration Errors Invocations Throttles',
    ['FunctionName', 'FunctionName Resource', 'ExecutedVersion FunctionName Resource'],
  ],
  // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html
  [
    'AWS/DynamoDB',
    'ReadThrottleEvents WriteThrottleEvents ConsumedReadCapacityUnits ConsumedWriteCapacityUnits',
    ['TableName', 'GlobalSecondaryIndexName TableName'],
  ],
  ...['Read', 'Write'].map((access): [string, string, string[]] => [
    'AWS/DynamoDB',
    ['MaxOnDemandThroughput', 'KeyRangeThroughput', 'AccountLimit']
      .map((limit) => `${access}${limit}ThrottleEvents`)
      .join(' '),
    ['TableName', 'GlobalSecondaryIndexName TableName'],
  ]),
  ['AWS/DynamoDB', 'SuccessfulRequestLatency', ['Operation TableName']],
  // https://docs.aws.amazon.com/waf/latest/developerguide/waf-metrics.html
  ['AWS/WAFV2', 'AllowedRequests BlockedRequests CountedRequests', ['Region Rule WebACL']],
  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CloudWatch-Logs-Monitoring-CloudWatch-Metrics.html
  ['AWS/Logs', 'IncomingLogEvents', ['LogGroupName']],
];

const emitted = [
  ...documented.flatMap(([namespace, names, sets]) =>
    names.split(' ').flatMap((name) => sets.map((set) => textOf(namespace, name, set.split(' ')))),
  ),
  ...[...Object.values(metrics), ...collections.map(createdMetric)].map(({ name, dimensions }) =>
    textOf(metricNamespace, name, ['service', ...dimensions]),
  ),
];

// An alarm on a metric that does not exist never fires, and a graph of such a metric stays empty.
test.each(stageNames)('the alarms and graphs of %s use only metrics that exist', (stage) => {
  const template = readableTemplate(stage);
  const filters = propertiesOf(template, 'AWS::Logs::MetricFilter').map(
    ({ MetricTransformations: [{ MetricNamespace, MetricName, Dimensions }] }) =>
      textOf(MetricNamespace, MetricName, namesOf(Dimensions)),
  );
  const alarms = resourcesOf(template, 'AWS::CloudWatch::Alarm').flatMap(([name, { Properties }]) =>
    watchedBy(Properties).map((Metric) => [
      `The alarm ${name} watches`,
      textOf(Metric.Namespace, Metric.MetricName, namesOf(Metric.Dimensions)),
    ]),
  );
  const { widgets } = JSON.parse(template.Resources.Dashboard.Properties.DashboardBody);
  const graphs = widgets.flatMap(({ properties: { title, metrics: lines = [] } }: any) =>
    lines.flatMap(shownBy).map((metric: string) => [`The graph "${title}" shows`, metric]),
  );
  const unknown = [...alarms, ...graphs].filter(([, metric]) => ![...emitted, ...filters].includes(metric));
  const advice = 'Correct the metric, or add it and its documentation to test/stack/metrics.test.ts';
  expect(unknown.map((watched) => `${watched.join(' ')}, which does not exist. ${advice}.`)).toEqual([]);
});

/** Returns the metric in a graph's line, or the metrics that the line's SEARCH expression finds. */
function shownBy([first, name, ...rest]: any[]): string[] {
  const dimensions = rest.slice(0, -1).filter((_, index) => index % 2 === 0);
  if (typeof first === 'string') return [textOf(first, name, dimensions)];
  const searches = first.expression.matchAll(/SEARCH\('\{(\w+),([^}]+)\} MetricName="(\w+)"/g);
  return Array.from(searches, ([, namespace, schema, metric]) =>
    textOf(namespace, metric, schema.split(',')),
  );
}

function namesOf(dimensions: any[] = []): string[] {
  return dimensions.map(({ Key, Name = Key }) => Name);
}

function textOf(namespace: string, name: string, dimensions: string[]): string {
  return `${namespace} ${name} by ${dimensions.toSorted().join(', ')}`;
}
