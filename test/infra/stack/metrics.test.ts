import { expect, test } from '@jest/globals';
import { metricNamespace, metrics } from '../../../shared/names.ts';
import { propertiesOf, readableTemplate, resourcesOf, stageNames } from '../../support/stack-template.ts';
import { queriesOf } from './cloudwatch.ts';

interface Metric {
  namespace: string;
  name: string;
  dimensions: string[];
}

/** Metrics that AWS documents. Each metric exists with each of the sets of dimensions. */
const documented = [
  {
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html
    namespace: 'AWS/ApiGateway',
    names: ['4XXError', '5XXError', 'Count', 'IntegrationLatency', 'Latency'],
    dimensions: ['ApiName', 'ApiName Stage'],
  },
  {
    // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
    // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-view.html
    namespace: 'AWS/Lambda',
    names: ['ConcurrentExecutions', 'Duration', 'Errors', 'Invocations', 'Throttles'],
    dimensions: ['', 'FunctionName', 'FunctionName Resource', 'ExecutedVersion FunctionName Resource'],
  },
  {
    // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html
    namespace: 'AWS/DynamoDB',
    names: [
      'ReadThrottleEvents',
      'WriteThrottleEvents',
      'ConsumedReadCapacityUnits',
      'ConsumedWriteCapacityUnits',
    ],
    dimensions: ['TableName', 'GlobalSecondaryIndexName TableName'],
  },
];

const ofAws = documented.flatMap(({ namespace, names, dimensions }) =>
  names.flatMap((name) => dimensions.map((set) => ({ namespace, name, dimensions: set.split(' ') }))),
);
const ofFunctions = Object.values(metrics).map(({ name, dimensions }) => ({
  namespace: metricNamespace,
  name,
  dimensions: ['service', ...dimensions],
}));

// An alarm on a metric that does not exist never fires, and its graph stays empty.
test.each(stageNames)('the alarms and graphs of %s show only metrics that exist', (stage) => {
  const template = readableTemplate(stage);
  const filters = propertiesOf(template, 'AWS::Logs::MetricFilter');
  const ofFilters = filters.map(
    ({ MetricTransformations: [{ MetricNamespace, MetricName, Dimensions }] }) => ({
      namespace: MetricNamespace,
      name: MetricName,
      dimensions: Dimensions.map(({ Key }: any) => Key),
    }),
  );
  const existing = new Set([...ofAws, ...ofFunctions, ...ofFilters].map(textOf));
  const alarms = resourcesOf(template, 'AWS::CloudWatch::Alarm').flatMap(([name, { Properties }]) =>
    queriesOf(Properties).map(
      ({ MetricStat: { Metric } }) =>
        [
          `The alarm ${name} watches`,
          {
            namespace: Metric.Namespace,
            name: Metric.MetricName,
            dimensions: Metric.Dimensions?.map(nameOf) ?? [],
          },
        ] as const,
    ),
  );
  const { widgets } = JSON.parse(template.Resources.Dashboard.Properties.DashboardBody);
  const graphs = widgets.flatMap(({ properties: { title, metrics: lines = [] } }: any) =>
    lines.flatMap((line: any[]) =>
      shownBy(line).map((metric) => [`The graph "${title}" shows`, metric] as const),
    ),
  );
  const unknown = [...alarms, ...graphs].filter(([, metric]) => !existing.has(textOf(metric)));
  expect(
    unknown.map(
      ([watcher, metric]) =>
        `${watcher} ${textOf(metric)}, which nothing emits. Correct its name and dimensions, or add it with its documentation page to test/infra/stack/metrics.test.ts.`,
    ),
  ).toEqual([]);
});

/** Returns the metric in a line of a graph, or the metrics that its SEARCH expression finds. */
function shownBy([namespace, name, ...rest]: any[]): Metric[] {
  if (typeof namespace === 'string') {
    const dimensions = rest.filter((text, index) => typeof text === 'string' && index % 2 === 0);
    return [{ namespace, name, dimensions }];
  }
  const searches = namespace.expression.matchAll(/SEARCH\('\{([^}]+)\} MetricName="(\w+)"/g);
  return Array.from(searches, ([, schema, metricName]) => {
    const [first, ...dimensions] = schema.split(',');
    return { namespace: first, name: metricName, dimensions };
  });
}

function nameOf({ Name }: { Name: string }): string {
  return Name;
}

function textOf({ namespace, name, dimensions }: Metric): string {
  return `${namespace} ${name} by ${dimensions.toSorted().join(', ')}`;
}
