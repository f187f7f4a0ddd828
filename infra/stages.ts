import type { StageSettings } from './settings.ts';

const common = {
  listPartitions: 1,
  recordedListPartitions: 1,
  functionTimeoutSeconds: 10,
  authorizerCacheSeconds: 60,
  // To receive alarms, enter your email address here or subscribe to the topic AlarmTopic after the first deployment.
  alarmEmail: null,
};

export const stages = {
  staging: {
    ...common,
    retainData: false,
    recoveryDays: 1,
    maxReadUnitsPerSecond: 1_000,
    maxWriteUnitsPerSecond: 200,
    logRetentionDays: 14,
    canaryDeployments: false,
    requestsPerSecond: 100,
    requestBurst: 200,
    firewall: { action: 'count', requestsPerMinutePerIp: 1_500, requestsPerMinutePerKey: 3_000 },
  },
  production: {
    ...common,
    retainData: true,
    recoveryDays: 35,
    maxReadUnitsPerSecond: 20_000,
    maxWriteUnitsPerSecond: 4_000,
    logRetentionDays: 365,
    canaryDeployments: true,
    requestsPerSecond: 1_000,
    requestBurst: 2_000,
    firewall: { action: 'block', requestsPerMinutePerIp: 6_000, requestsPerMinutePerKey: 30_000 },
  },
} as const satisfies Record<string, StageSettings>;
