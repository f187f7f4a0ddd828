import type { StageSettings } from './settings.ts';

const common = {
  functionTimeoutSeconds: 10,
  authorizerCacheSeconds: 60,
  tracing: false,
  // To receive alarms and notices, enter your email address here, or subscribe to the topics AlarmTopic and NoticeTopic
  // after the first deployment.
  alarmEmail: null,
} satisfies Partial<StageSettings>;

/** Stages that the CDK synthesizes. infra/settings.ts describes each setting. */
export const stages: Record<string, StageSettings> = {
  staging: {
    ...common,
    retainData: false,
    recoveryDays: 1,
    maxReadUnitsPerSecond: 1_000,
    maxWriteUnitsPerSecond: 500,
    logRetentionDays: 14,
    canaryDeployments: false,
    requestsPerSecond: 100,
    requestBurst: 200,
    createsPerSecond: 100,
    createBurst: 50,
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
    createsPerSecond: 400,
    createBurst: 100,
    firewall: { action: 'block', requestsPerMinutePerIp: 3_000, requestsPerMinutePerKey: 30_000 },
  },
};
