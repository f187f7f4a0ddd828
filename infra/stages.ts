import type { StageSettings } from './settings.ts';

const common = {
  functionTimeoutSeconds: 10,
  authorizerCacheSeconds: 60,
  // To receive alarms and notices, enter your email address here, or subscribe to the topics AlarmTopic and NoticeTopic
  // after the first deployment.
  alarmEmail: null,
};

/** Stages that the CDK synthesizes. infra/settings.ts describes each setting and its valid values. */
export const stages = {
  staging: {
    ...common,
    listPartitions: [{ since: '2025-01-01T00:00:00Z', count: 1 }],
    retainData: false,
    recoveryDays: 1,
    maxReadUnitsPerSecond: 1_000,
    maxWriteUnitsPerSecond: 500,
    logRetentionDays: 14,
    // This is X-Ray's default. With few requests, a larger share than in production costs little.
    tracedShare: 0.05,
    canaryDeployments: false,
    requestsPerSecond: 100,
    requestBurst: 200,
    createsPerSecond: 100,
    createBurst: 50,
    firewall: { action: 'count', requestsPerMinutePerIp: 1_500, requestsPerMinutePerKey: 3_000 },
  },
  production: {
    ...common,
    listPartitions: [{ since: '2025-01-01T00:00:00Z', count: 1 }],
    retainData: true,
    recoveryDays: 35,
    maxReadUnitsPerSecond: 20_000,
    maxWriteUnitsPerSecond: 4_000,
    logRetentionDays: 365,
    // Of 1,000 requests per second, X-Ray still records 11 per second, for about a fifth of the cost of its default.
    tracedShare: 0.01,
    canaryDeployments: true,
    requestsPerSecond: 1_000,
    requestBurst: 2_000,
    createsPerSecond: 400,
    createBurst: 100,
    firewall: { action: 'block', requestsPerMinutePerIp: 3_000, requestsPerMinutePerKey: 30_000 },
  },
} as const satisfies Record<string, StageSettings>;
