import { Duration } from 'aws-cdk-lib';
import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { metricNamespace, metrics, serviceName } from '../../shared/names.ts';
import { gatewayErrorResponsesMetric } from './access-log.ts';
import type { StageWithFunctions } from './functions.ts';
import { apiMetrics, countPerMinute, MINUTE } from './metrics.ts';

/** Adds a dashboard with the alarms and the metrics of the API, the functions and the tables. */
export function addDashboard(
  scope: Construct,
  { stage, functions, storage, monitoring }: StageWithFunctions,
): void {
  const api = apiMetrics(stage);
  const service = serviceName(stage);
  const fns = Object.values(functions).map(({ lambda }) => lambda);
  const { tables } = storage;

  new Dashboard(scope, 'Dashboard', {
    defaultInterval: Duration.hours(3),
    widgets: [
      [new AlarmStatusWidget({ title: 'Alarms', alarms: monitoring.alarms.toReversed(), width: 24 })],
      [
        graph('Requests and error responses per minute', [api.requests, api.clientErrors, api.serverErrors]),
        graph('Latency in ms', ['p50', 'p90', 'p99'].map(api.latency)),
        graph('Pets created per minute', [countPerMinute(stage, metrics.petsCreated)]),
      ],
      [
        graph('Error responses of the functions, by code', [search(service, metrics.errorResponses)]),
        graph('Error responses of API Gateway, by status and type', [
          search(service, gatewayErrorResponsesMetric),
        ]),
        graph('Calls to deprecated operations, by API key', [search(service, metrics.deprecatedCalls)]),
      ],
      [
        graph(
          'Function duration p99 in ms',
          fns.map((fn) => fn.metricDuration({ statistic: 'p99', period: MINUTE })),
        ),
        graph(
          'Function errors and throttles',
          fns.flatMap((fn) => [fn.metricErrors({ period: MINUTE }), fn.metricThrottles({ period: MINUTE })]),
        ),
        graph(
          'Concurrent executions',
          fns.map((fn) => fn.metric('ConcurrentExecutions', { statistic: Stats.MAXIMUM, period: MINUTE })),
        ),
      ],
      [
        graph(
          'Read units per minute',
          tables.map((table) => table.metricConsumedReadCapacityUnits({ period: MINUTE })),
        ),
        graph(
          'Write units per minute',
          tables.map((table) => table.metricConsumedWriteCapacityUnits({ period: MINUTE })),
        ),
        graph('Throttled requests', storage.throttles),
      ],
    ],
  });
}

function graph(title: string, left: IMetric[]): GraphWidget {
  return new GraphWidget({ title, left, width: 8, leftYAxis: { min: 0 } });
}

/** Returns an expression that draws one line for each combination of dimension values. */
function search(service: string, { name, dimensions }: { name: string; dimensions: readonly string[] }) {
  const schema = [metricNamespace, 'service', ...dimensions].join(',');
  return new MathExpression({
    expression: `SEARCH('{${schema}} MetricName="${name}" service="${service}"', 'Sum', 60)`,
    usingMetrics: {},
    label: '',
    period: MINUTE,
  });
}
