import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { collections } from '../../shared/contract/operations.ts';
import { createdMetric, metrics } from '../../shared/names.ts';
import { activeKeyRequestsMetric, gatewayErrorsMetric, rejectedRequestsMetric } from './access-log.ts';
import type { Api } from './api.ts';
import type { Functions } from './functions.ts';
import { MINUTE, type StageStack } from './stage-stack.ts';
import type { Tables } from './storage.ts';

/** Adds a dashboard with the alarms and the metrics of the API, the functions and the tables. */
export function addDashboard(stack: StageStack, api: Api, functions: Functions, tables: Tables): void {
  const { requests, clientErrors, serverErrors, latency } = api.metrics;
  const fns = Object.values(functions);
  const { ofCollections, ...others } = tables;
  const all = [...ofCollections.values(), ...Object.values(others)];
  const period = MINUTE;
  const concurrent = { statistic: cloudwatch.Stats.MAXIMUM, period };
  // Each row of the dashboard shows up to three of these graphs.
  const graphs: Record<string, cloudwatch.IMetric[]> = {
    'Requests and error responses per minute': [requests, clientErrors, serverErrors],
    'Requests with active API keys, and those that functions rejected, per minute': [
      activeKeyRequestsMetric,
      rejectedRequestsMetric,
    ].map((metric) => stack.countPerMinute(metric)),
    'Latency in ms': ['p50', 'p90', 'p99'].map(latency),
    'Creates per minute': collections.map((collection) => stack.countPerMinute(createdMetric(collection))),
    'Error responses of the functions, by code': [stack.countsPerMinute(metrics.errorResponses)],
    'Error responses of API Gateway, by status and type': [stack.countsPerMinute(gatewayErrorsMetric)],
    'Calls to deprecated operations': [stack.countsPerMinute(metrics.deprecatedCalls)],
    'Function duration p99 in ms': fns.map((fn) => fn.metricDuration({ statistic: 'p99', period })),
    'Function errors and throttles': fns.flatMap((fn) => [
      fn.metricErrors({ period }),
      fn.metricThrottles({ period }),
    ]),
    'Concurrent executions': fns.map((fn) => fn.metric('ConcurrentExecutions', concurrent)),
    'Read units per minute': all.map((table) => table.metricConsumedReadCapacityUnits({ period })),
    'Write units per minute': all.map((table) => table.metricConsumedWriteCapacityUnits({ period })),
    'Throttled requests': all.map(({ throttles }) => throttles),
    'Throttled requests, by limit': all.flatMap(({ throttlesByLimit }) => throttlesByLimit),
    'Latency of database calls in ms': all.flatMap(({ latencies }) => latencies),
  };
  new cloudwatch.Dashboard(stack, 'Dashboard', {
    dashboardName: stack.stackName,
    defaultInterval: Duration.hours(3),
    widgets: [
      [new cloudwatch.AlarmStatusWidget({ title: 'Alarms', alarms: stack.alarms.toReversed(), width: 24 })],
      Object.entries(graphs).map(
        ([title, left]) => new cloudwatch.GraphWidget({ title, left, width: 8, leftYAxis: { min: 0 } }),
      ),
    ],
  });
}
