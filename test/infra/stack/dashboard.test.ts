import { describe, expect, test } from '@jest/globals';
import { metrics } from '../../../shared/names.ts';
import { functionNames, readableTemplate, resourcesOf, stageNames } from '../../support/stack-template.ts';

describe.each(stageNames)('the dashboard of %s', (stage) => {
  const template = readableTemplate(stage);
  const { Dashboard, ...Resources } = template.Resources;
  const [alarmWidget, ...graphs] = JSON.parse(Dashboard.Properties.DashboardBody).widgets;
  const service = `pet-store-${stage}`;

  test('shows all alarms at the top', () => {
    const alarms = resourcesOf(template, 'AWS::CloudWatch::Alarm').map(([name]) => `\${${name}.Arn}`);
    expect(alarmWidget.properties.alarms.toSorted()).toEqual(alarms.toSorted());
  });

  test('graphs only this stage’s metrics', () => {
    const api = `ApiName ${service} Stage ${stage}`;
    const { petsCreated, errorResponses, deprecatedCalls } = metrics;
    const gatewayErrorResponses = { name: 'GatewayErrorResponses', dimensions: ['status', 'type'] };
    // A search expression only finds metrics with exactly the listed dimensions.
    const searches = [errorResponses, gatewayErrorResponses, deprecatedCalls].map(({ name, dimensions }) => {
      const schema = ['PetStore', 'service', ...dimensions].join(',');
      return `SEARCH('{${schema}} MetricName="${name}" service="${service}"', 'Sum', 60) 60`;
    });
    const functions = functionNames.map((name) => `FunctionName \${${name}}`);
    const tables = resourcesOf(template, 'AWS::DynamoDB::GlobalTable').map(([name]) => name);
    expect(graphs.flatMap(linesOf)).toEqual([
      ...['Count', '4XXError', '5XXError'].map((name) => `AWS/ApiGateway ${name} ${api} Sum 60`),
      ...['p50', 'p90', 'p99'].map((statistic) => `AWS/ApiGateway Latency ${api} ${statistic} 60`),
      `PetStore ${petsCreated.name} service ${service} Sum 60`,
      ...searches,
      ...functions.map((name) => `AWS/Lambda Duration ${name} p99 60`),
      ...functions.flatMap((name) => [
        `AWS/Lambda Errors ${name} Sum 60`,
        `AWS/Lambda Throttles ${name} Sum 60`,
      ]),
      ...functions.map((name) => `AWS/Lambda ConcurrentExecutions ${name} Maximum 60`),
      ...['Read', 'Write'].flatMap((kind) =>
        tables.map((name) => `AWS/DynamoDB Consumed${kind}CapacityUnits TableName \${${name}} Sum 60`),
      ),
      // The throttling graph uses the same expressions and metric ids as the alarms.
      ...tables.flatMap((name) =>
        Resources[`Monitoring${name.slice('Storage'.length)}Throttles`].Properties.Metrics.map(textOf),
      ),
    ]);
    expect(new Set(graphs.map(({ properties }: any) => properties.region))).toEqual(
      new Set(['${AWS::Region}']),
    );
  });
});

/** Returns, for each line in a graph, a text with its metric or expression, id, statistic and period. */
function linesOf({ properties }: any): string[] {
  return properties.metrics.map((line: any[]) => {
    const { expression, id, stat, period } = line.at(-1);
    return [...line.slice(0, -1), expression, id, stat, period].filter(Boolean).join(' ');
  });
}

/** Returns a text for an alarm's metric or expression in the same format as `linesOf`. */
function textOf({ Expression, Id, MetricStat }: any): string {
  if (Expression) return Expression;
  const { Namespace, MetricName, Dimensions } = MetricStat.Metric;
  const dimensions = Dimensions.flatMap(({ Name, Value }: any) => [Name, Value]);
  return [Namespace, MetricName, ...dimensions, Id, MetricStat.Stat].join(' ');
}
