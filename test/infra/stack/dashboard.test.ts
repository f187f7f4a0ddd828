import { describe, expect, test } from '@jest/globals';
import { metrics } from '../../../shared/names.ts';
import { functionNames, readableTemplate, resourcesOf, stageNames } from '../../support/stack-template.ts';

/** A line of a graph: namespace, name, then names and values of dimensions in turn; or an expression alone. */
type Line = [...string[], { expression?: string; id?: string; stat?: string; period?: number }];

interface Widget {
  type: string;
  properties: { title: string; region?: string; alarms?: string[]; metrics?: Line[] };
}

describe.each(stageNames)('the dashboard of %s', (stage) => {
  const template = readableTemplate(stage);
  const [first, ...graphs]: Widget[] = JSON.parse(
    template.Resources['Dashboard'].Properties.DashboardBody,
  ).widgets;
  const lines = graphs.flatMap(({ properties }) => properties.metrics!);
  const service = `pet-store-${stage}`;

  test('begins with every alarm', () => {
    const alarms = resourcesOf(template, 'AWS::CloudWatch::Alarm').map(([name]) => `\${${name}.Arn}`);
    expect(first!.properties.alarms!.toSorted()).toEqual(alarms.toSorted());
  });

  // A search by other dimensions than a metric has finds nothing.
  test('shows what the functions and the access log count in each minute, of this stage alone', () => {
    const { petsCreated, refusals, deprecatedCalls } = metrics;
    const gatewayRefusals = { name: 'GatewayRefusals', dimensions: ['status', 'type'] };
    const searches = [refusals, gatewayRefusals, deprecatedCalls].map(({ name, dimensions }) => {
      const schema = ['PetStore', 'service', ...dimensions].join(',');
      return `SEARCH('{${schema}} MetricName="${name}" service="${service}"', 'Sum', 60)`;
    });
    expect(lines.flatMap((line) => expressionOf(line)?.match(/^SEARCH.*/) ?? [])).toEqual(searches);
    expect(shown('PetStore')).toEqual([[petsCreated.name, 'service', service, 'Sum', 60]]);
  });

  test('shows requests, error responses and latency of this API and stage', () => {
    const metricsOfApi = [
      'Count Sum',
      '4XXError Sum',
      '5XXError Sum',
      'Latency p50',
      'Latency p90',
      'Latency p99',
    ];
    expect(shown('AWS/ApiGateway')).toEqual(
      metricsOfApi.map((text) => {
        const [name, statistic] = text.split(' ');
        return [name, 'ApiName', service, 'Stage', stage, statistic, 60];
      }),
    );
  });

  const tableNames = resourcesOf(template, 'AWS::DynamoDB::GlobalTable').map(([name]) => name);
  test.each([
    ['AWS/Lambda', 'Duration', 'FunctionName', functionNames],
    ['AWS/Lambda', 'Errors', 'FunctionName', functionNames],
    ['AWS/Lambda', 'Throttles', 'FunctionName', functionNames],
    ['AWS/Lambda', 'ConcurrentExecutions', 'FunctionName', functionNames],
    ['AWS/DynamoDB', 'ConsumedReadCapacityUnits', 'TableName', tableNames],
    ['AWS/DynamoDB', 'ConsumedWriteCapacityUnits', 'TableName', tableNames],
  ])('shows %s %s of each %s', (namespace, metric, dimension, names) => {
    const found = shown(namespace).filter(([name]) => name === metric);
    expect(found.map((line) => line.slice(1, 3))).toEqual(names.map((name) => [dimension, `\${${name}}`]));
  });

  test('shows what throttled each table and its indexes, as the alarms count it', () => {
    const counted = ['Pets', 'Intents', 'ApiKeys'].flatMap(
      (name) => template.Resources[`Monitoring${name}Throttles`].Properties.Metrics,
    );
    expect(lines.flatMap((line) => expressionOf(line)?.match(/^SUM.*/) ?? [])).toEqual(
      counted.flatMap(({ Expression = [] }) => Expression),
    );
    expect(shown('AWS/DynamoDB').filter(([name]) => name!.toString().endsWith('ThrottleEvents'))).toEqual(
      counted
        .flatMap(({ MetricStat = [] }) => MetricStat)
        .map(({ Metric: { MetricName, Dimensions }, Stat }) => [
          MetricName,
          ...Dimensions.flatMap(({ Name, Value }: any) => [Name, Value]),
          Stat,
          undefined,
        ]),
    );
  });

  test.each(graphs.map(({ properties }) => [properties.title, properties] as const))(
    'calculates in its graph “%s” with the metrics of that graph, in the stage’s region',
    (_title, { region, metrics: own = [] }) => {
      expect(own).not.toEqual([]);
      expect(region).toBe('${AWS::Region}');
      const ids = own.flatMap((line) => optionsOf(line).id ?? []);
      const used = own.flatMap(
        (line) =>
          expressionOf(line)
            ?.match(/^(?!SEARCH).*/)?.[0]
            .match(/\b[a-z]\w*/g) ?? [],
      );
      expect(used.toSorted()).toEqual(ids.toSorted());
    },
  );

  /** The metrics of a namespace that graphs show: name, dimensions, statistic and seconds. */
  function shown(namespace: string): (string | number | undefined)[][] {
    return lines
      .filter(([source]) => source === namespace)
      .map((line) => [...(line.slice(1, -1) as string[]), optionsOf(line).stat, optionsOf(line).period]);
  }
});

function optionsOf(line: Line) {
  return line.at(-1) as Exclude<Line[number], string>;
}

function expressionOf(line: Line): string | undefined {
  return optionsOf(line).expression;
}
