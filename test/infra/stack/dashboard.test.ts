import { describe, expect, test } from '@jest/globals';
import { metrics } from '../../../shared/names.ts';
import { functionNames, readableTemplate, resourcesOf, stageNames } from '../../support/stack-template.ts';

interface Line {
  /** Namespace, name, then names and values of dimensions in turn. Empty if the line is an expression. */
  metric: string[];
  expression?: string;
  id?: string;
  stat?: string;
  period?: number;
}

describe.each(stageNames)('the dashboard of %s', (stage) => {
  const template = readableTemplate(stage);
  const { Resources } = template;
  const [alarmWidget, ...widgets] = JSON.parse(Resources['Dashboard'].Properties.DashboardBody).widgets;
  const graphs = widgets.map(({ properties }: any) => ({
    ...properties,
    lines: properties.metrics.map((line: any[]) => ({ metric: line.slice(0, -1), ...line.at(-1) })),
  }));
  const lines: Line[] = graphs.flatMap((graph: any) => graph.lines);
  const service = `pet-store-${stage}`;

  test('begins with every alarm', () => {
    const alarms = resourcesOf(template, 'AWS::CloudWatch::Alarm').map(([name]) => `\${${name}.Arn}`);
    expect(alarmWidget.properties.alarms.toSorted()).toEqual(alarms.toSorted());
  });

  // A search by other dimensions than the metric has finds nothing.
  test('shows what the functions and the access log count in each minute, of this stage alone', () => {
    const { petsCreated, refusals, deprecatedCalls } = metrics;
    const gatewayRefusals = { name: 'GatewayRefusals', dimensions: ['status', 'type'] };
    const searches = [refusals, gatewayRefusals, deprecatedCalls].map(({ name, dimensions }) => {
      const schema = ['PetStore', 'service', ...dimensions].join(',');
      return `SEARCH('{${schema}} MetricName="${name}" service="${service}"', 'Sum', 60)`;
    });
    expect(expressions(lines).filter((expression) => expression.startsWith('SEARCH'))).toEqual(searches);
    expect(shown('PetStore')).toEqual([[petsCreated.name, 'service', service, 'Sum', 60]]);
  });

  test('shows requests, error responses and latency of this API and stage', () => {
    const names = ['Count Sum', '4XXError Sum', '5XXError Sum', 'Latency p50', 'Latency p90', 'Latency p99'];
    expect(shown('AWS/ApiGateway')).toEqual(
      names.map((text) => {
        const [name, statistic] = text.split(' ');
        return [name, 'ApiName', service, 'Stage', stage, statistic, 60];
      }),
    );
  });

  const tableNames = resourcesOf(template, 'AWS::DynamoDB::GlobalTable').map(([name]) => name);
  test.each([
    ['Lambda', 'Duration', 'FunctionName', functionNames],
    ['Lambda', 'Errors', 'FunctionName', functionNames],
    ['Lambda', 'Throttles', 'FunctionName', functionNames],
    ['Lambda', 'ConcurrentExecutions', 'FunctionName', functionNames],
    ['DynamoDB', 'ConsumedReadCapacityUnits', 'TableName', tableNames],
    ['DynamoDB', 'ConsumedWriteCapacityUnits', 'TableName', tableNames],
  ])('shows %s %s of each %s', (namespace, metric, dimension, names) => {
    const found = shown(`AWS/${namespace}`).filter(([name]) => name === metric);
    expect(found.map((line) => line.slice(1, 3))).toEqual(names.map((name) => [dimension, `\${${name}}`]));
  });

  test('shows what throttled each table and its indexes, as the alarms count it', () => {
    const queries = tableNames.flatMap(
      (name) => Resources[`Monitoring${name.slice('Storage'.length)}Throttles`].Properties.Metrics,
    );
    expect(expressions(lines).filter((expression) => expression.startsWith('SUM'))).toEqual(
      queries.flatMap(({ Expression = [] }) => Expression),
    );
    expect(shown('AWS/DynamoDB').filter(([name]) => `${name}`.endsWith('ThrottleEvents'))).toEqual(
      queries
        .flatMap(({ MetricStat = [] }) => MetricStat)
        .map(({ Metric: { MetricName, Dimensions }, Stat }) => [
          MetricName,
          ...Dimensions.flatMap(({ Name, Value }: any) => [Name, Value]),
          Stat,
          undefined,
        ]),
    );
  });

  test.each(graphs.map((graph: any) => [graph.title, graph]))(
    'calculates in its graph “%s” with the metrics of that graph, in the stage’s region',
    (_title, graph: any) => {
      expect(graph.lines).not.toEqual([]);
      expect(graph.region).toBe('${AWS::Region}');
      const calculated = expressions(graph.lines).filter((expression) => !expression.startsWith('SEARCH'));
      const used = calculated.flatMap((expression) => expression.match(/\b[a-z]\w*/g) ?? []);
      const ids = graph.lines.flatMap(({ id = [] }) => id);
      expect(used.toSorted()).toEqual(ids.toSorted());
    },
  );

  /** @returns the metrics of a namespace in graphs: name, dimensions, statistic and seconds. */
  function shown(namespace: string): (string | number | undefined)[][] {
    return lines
      .filter(({ metric }) => metric[0] === namespace)
      .map(({ metric, stat, period }) => [...metric.slice(1), stat, period]);
  }
});

function expressions(lines: Line[]): string[] {
  return lines.flatMap(({ expression = [] }) => expression);
}
