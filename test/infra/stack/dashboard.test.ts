import { describe, expect, test } from '@jest/globals';
import { metricNamespace as namespace, metrics, serviceName } from '../../../shared/names.ts';
import { asText, resourceOf, resourcesOf, stackTemplate, stageNames } from '../../support/stack-template.ts';

/** A line of a graph: namespace, name, then dimensions by turns as name and value; or an expression alone. */
type Line = [...(string | object)[], { expression?: string; id?: string }];

interface Widget {
  type: string;
  properties: { title: string; region?: string; alarms?: string[]; metrics?: Line[] };
}

describe.each(stageNames)('the dashboard of %s', (stage) => {
  const template = stackTemplate(stage);
  const dashboards = resourcesOf(template, 'AWS::CloudWatch::Dashboard');
  // CloudFormation puts in values without quotes, which a logical id stands for well.
  const { widgets }: { widgets: Widget[] } = JSON.parse(
    asText(dashboards[0]![1].Properties['DashboardBody']),
  );
  const graphs = widgets.filter(({ type }) => type === 'metric');
  const lines = graphs.flatMap(({ properties }) => properties.metrics!);
  const service = serviceName(stage);

  test('is the only one', () => {
    expect(dashboards).toHaveLength(1);
  });

  test('begins with every alarm that there is', () => {
    const alarmIds = resourcesOf(template, 'AWS::CloudWatch::Alarm').map(([id]) => id);
    const [first, ...others] = widgets;
    expect(first).toMatchObject({ type: 'alarm' });
    expect(first!.properties.alarms!.toSorted()).toEqual(alarmIds.map((id) => `\${${id}.Arn}`).toSorted());
    expect(new Set(others.map(({ type }) => type))).toEqual(new Set(['metric']));
  });

  test('shows what the functions and the access log count, of this stage alone', () => {
    const [, filter] = resourceOf(template, 'AWS::Logs::MetricFilter', 'ApiGatewayRefusals');
    const [refused] = filter.Properties['MetricTransformations'];
    const { petsCreated, refusals, deprecatedCalls } = metrics;

    const searches = lines.flatMap((line) => searchOf(line) ?? []);
    expect(searches).toEqual([
      { namespace, name: refusals.name, dimensions: ['service', ...refusals.dimensions], service },
      {
        namespace: refused.MetricNamespace,
        name: refused.MetricName,
        dimensions: refused.Dimensions.map(({ Key }: { Key: string }) => Key),
        service,
      },
      {
        namespace,
        name: deprecatedCalls.name,
        dimensions: ['service', ...deprecatedCalls.dimensions],
        service,
      },
    ]);
    expect(petsCreated.dimensions).toEqual([]);
    expect(lines.filter(([first]) => first === namespace).map((line) => line.slice(0, -1))).toEqual([
      [namespace, petsCreated.name, 'service', service],
    ]);
  });

  test('counts in each minute what the functions and the access log count', () => {
    const ofOurs = lines.filter((line) => line[0] === namespace).map((line) => line.at(-1));
    expect(ofOurs).toEqual([{ stat: 'Sum', period: 60 }]);
    const expressions = lines.flatMap((line) => expressionOf(line) ?? []);
    const searches = expressions.filter((expression) => expression.startsWith('SEARCH('));
    expect(searches).toHaveLength(3);
    for (const search of searches) expect(search).toMatch(/, 'Sum', 60\)$/);
  });

  test('shows requests, refusals and latency of this API and stage', () => {
    const [, api] = resourceOf(template, 'AWS::ApiGateway::RestApi', 'ApiRestApi');
    const [, deployed] = resourcesOf(template, 'AWS::ApiGateway::Stage')[0]!;
    const dimensions = ['ApiName', api.Properties['Name'], 'Stage', deployed.Properties['StageName']];
    const shown = lines.filter(([first]) => first === 'AWS/ApiGateway');
    expect(shown.map((line) => line.slice(2, -1))).toEqual(shown.map(() => dimensions));
    expect(shown.map((line) => [line[1], line.at(-1)])).toEqual([
      ['Count', { stat: 'Sum', period: 60 }],
      ['4XXError', { stat: 'Sum', period: 60 }],
      ['5XXError', { stat: 'Sum', period: 60 }],
      ['Latency', { stat: 'p50', period: 60 }],
      ['Latency', { stat: 'p90', period: 60 }],
      ['Latency', { stat: 'p99', period: 60 }],
    ]);
  });

  test.each(['Duration', 'Errors', 'Throttles', 'ConcurrentExecutions'])(
    'shows %s of every function',
    (metric) => {
      const functionIds = resourcesOf(template, 'AWS::Lambda::Function').map(([id]) => id);
      expect(dimensionsShown('AWS/Lambda', metric)).toEqual(
        functionIds.map((id) => ['FunctionName', `\${${id}}`]),
      );
    },
  );

  test.each(['ConsumedReadCapacityUnits', 'ConsumedWriteCapacityUnits'])(
    'shows %s of every table',
    (metric) => {
      expect(dimensionsShown('AWS/DynamoDB', metric)).toEqual(
        tableIds().map((id) => ['TableName', `\${${id}}`]),
      );
    },
  );

  test('shows the throttled requests of every table and index', () => {
    const throttled = dimensionsShown('AWS/DynamoDB', 'WriteThrottleEvents').map((dimensions) =>
      dimensions.toReversed().join(' '),
    );
    const [pets] = resourceOf(template, 'AWS::DynamoDB::GlobalTable', 'StoragePets');
    const [intents] = resourceOf(template, 'AWS::DynamoDB::GlobalTable', 'StorageIntents');
    const [apiKeys] = resourceOf(template, 'AWS::DynamoDB::GlobalTable', 'StorageApiKeys');
    expect(throttled).toEqual([
      `\${${pets}} TableName`,
      `\${${pets}} TableName newest GlobalSecondaryIndexName`,
      `\${${pets}} TableName newest-by-status GlobalSecondaryIndexName`,
      `\${${intents}} TableName`,
      `\${${apiKeys}} TableName`,
      `\${${apiKeys}} TableName newest GlobalSecondaryIndexName`,
    ]);
  });

  describe.each(graphs.map(({ properties }) => [properties.title, properties] as const))(
    'in its graph “%s”',
    (_title, { region, metrics: own = [] }) => {
      test('has lines, of the stage’s own region', () => {
        expect(own.length).toBeGreaterThan(0);
        expect(region).toBe('${AWS::Region}');
      });

      test('calculates with metrics of that graph alone', () => {
        const ids = own.flatMap((line) => optionsOf(line).id ?? []);
        expect(new Set(ids).size).toBe(ids.length);
        const used = own
          .flatMap((line) => expressionOf(line) ?? [])
          .filter((expression) => !expression.startsWith('SEARCH('))
          .flatMap((expression) => expression.match(/\b[a-z]\w*/g) ?? []);
        expect(used.toSorted()).toEqual(ids.toSorted());
      });
    },
  );

  function dimensionsShown(source: string, metric: string): unknown[][] {
    return lines.filter((line) => line[0] === source && line[1] === metric).map((line) => line.slice(2, -1));
  }

  function tableIds(): string[] {
    return resourcesOf(template, 'AWS::DynamoDB::GlobalTable').map(([id]) => id);
  }
});

function optionsOf(line: Line): { expression?: string; id?: string } {
  return line.at(-1) as { expression?: string; id?: string };
}

function expressionOf(line: Line): string | undefined {
  return optionsOf(line).expression;
}

/**
 * What a line searches for, when it does; undefined for what goes beyond one name of one service.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/search-expression-syntax.html
 */
function searchOf(line: Line): object | undefined {
  const form =
    /^SEARCH\('\{(?<namespace>\w+),(?<dimensions>[\w,]+)\} MetricName="(?<name>\w+)" service="(?<service>[\w-]+)"', /;
  const { dimensions, ...found } = form.exec(expressionOf(line) ?? '')?.groups ?? {};
  return dimensions === undefined ? undefined : { ...found, dimensions: dimensions.split(',') };
}
