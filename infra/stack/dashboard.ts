import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { metrics } from '../../shared/names.ts';
import { gatewayErrorResponsesMetric } from './access-log.ts';
import type { Api } from './api.ts';
import type { Functions } from './functions.ts';
import { MINUTE, type Monitoring } from './monitoring.ts';
import type { Storage } from './storage.ts';

/** Adds a dashboard with the alarms and the metrics of the API, the functions and the tables. */
export function addDashboard(
  scope: Construct,
  api: Api,
  functions: Functions,
  { tables }: Storage,
  monitoring: Monitoring,
): void {
  const { requests, clientErrors, serverErrors, latency } = api.metrics;
  const fns = Object.values(functions);
  const perMinute = { period: MINUTE };
  const p99 = { statistic: 'p99', period: MINUTE };
  const maximum = { statistic: cloudwatch.Stats.MAXIMUM, period: MINUTE };
  const alarms = monitoring.alarms.toReversed();
  const created = monitoring.countPerMinute(metrics.petsCreated);
  const errorResponses = monitoring.countsPerMinute(metrics.errorResponses);
  const gatewayErrorResponses = monitoring.countsPerMinute(gatewayErrorResponsesMetric);
  const deprecatedCalls = monitoring.countsPerMinute(metrics.deprecatedCalls);
  const durations = fns.map((fn) => fn.metricDuration(p99));
  const failures = fns.flatMap((fn) => [fn.metricErrors(perMinute), fn.metricThrottles(perMinute)]);
  const executions = fns.map((fn) => fn.metric('ConcurrentExecutions', maximum));
  const reads = tables.map((table) => table.metricConsumedReadCapacityUnits(perMinute));
  const writes = tables.map((table) => table.metricConsumedWriteCapacityUnits(perMinute));
  const throttles = tables.map((table) => table.throttles);

  new cloudwatch.Dashboard(scope, 'Dashboard', {
    defaultInterval: Duration.hours(3),
    widgets: [
      [new cloudwatch.AlarmStatusWidget({ title: 'Alarms', alarms, width: 24 })],
      [
        graph('Requests and error responses per minute', [requests, clientErrors, serverErrors]),
        graph('Latency in ms', ['p50', 'p90', 'p99'].map(latency)),
        graph('Pets created per minute', [created]),
      ],
      [
        graph('Error responses of the functions, by code', [errorResponses]),
        graph('Error responses of API Gateway, by status and type', [gatewayErrorResponses]),
        graph('Calls to deprecated operations, by API key', [deprecatedCalls]),
      ],
      [
        graph('Function duration p99 in ms', durations),
        graph('Function errors and throttles', failures),
        graph('Concurrent executions', executions),
      ],
      [
        graph('Read units per minute', reads),
        graph('Write units per minute', writes),
        graph('Throttled requests', throttles),
      ],
    ],
  });
}

function graph(title: string, left: cloudwatch.IMetric[]): cloudwatch.GraphWidget {
  return new cloudwatch.GraphWidget({ title, left, width: 8, leftYAxis: { min: 0 } });
}
