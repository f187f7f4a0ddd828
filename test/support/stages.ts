import type { StageSettings } from '../../infra/settings.ts';

// Tests synthesize stages with these settings, so that operators can change infra/stages.ts without changing a test.

const common = {
  maxReadUnitsPerSecond: 1_000,
  maxWriteUnitsPerSecond: 200,
  functionTimeoutSeconds: 10,
  authorizerCacheSeconds: 60,
  tracing: false,
  requestsPerSecond: 100,
  requestBurst: 200,
  createsPerSecond: 80,
  createBurst: 20,
  firewall: { action: 'count' as const, requestsPerMinutePerIp: 6_000, requestsPerMinutePerKey: 30_000 },
  alarmEmail: null,
};

export const domain = {
  name: 'api.example.com',
  certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/00000000-0000-0000-0000-000000000000',
  hostedZoneId: 'Z0000000000000000000',
};

export const stages = {
  staging: { ...common, retainData: false, recoveryDays: 1, logRetentionDays: 14, canaryDeployments: false },
  production: {
    ...common,
    retainData: true,
    recoveryDays: 35,
    logRetentionDays: 365,
    canaryDeployments: true,
    firewall: { ...common.firewall, action: 'block' },
  },
} as const satisfies Record<string, StageSettings>;

/** Settings of a stage with all optional settings. */
export const allSettings = {
  ...stages.production,
  tracing: true,
  alarmEmail: 'operators@example.com',
  domain,
  publicUrl: 'https://example.com/shop',
  warmThroughput: { readUnitsPerSecond: 12_000, writeUnitsPerSecond: 4_000 },
} satisfies Required<StageSettings>;

export type StageName = keyof typeof stages;
