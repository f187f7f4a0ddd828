import type { operations } from '../shared/operations.ts';

/** Operations by their ids, and the authorizer. */
export type FunctionName = keyof typeof operations | 'authorizer';

/** Settings of one stage. Units are in the names; what may stand here is checked by `settings.ts`. */
export interface StageSettings {
  /**
   * Keys of each list index that every list asks. May grow and must never shrink: pets under the keys beyond would
   * vanish from lists. How to raise it: docs/runbook.md, "Raising listPartitions".
   */
  listPartitions: number;
  /**
   * The `listPartitions` of the last finished deployment, over which new pets are spread; each key sustains 1,000
   * creates a second. Raised after `listPartitions`, so that no deployment, nor its rollback, puts a pet where lists do
   * not look.
   */
  recordedListPartitions: number;
  /** Whether stack and tables are protected from deletion, and tables and logs outlive the stack. */
  keepsData: boolean;
  /** Days back to whose every second a table can be restored, 1 to 35. */
  recoveryDays: number;
  /** Upper bounds for each table and index, on demand: what a runaway client can cost. */
  maxReadUnitsPerSecond: number;
  maxWriteUnitsPerSecond: number;
  logRetentionDays: number;
  /** Processor time comes with it: 1,769 MB are a whole core. Chosen from what was measured: docs/performance.md, "Memory size". */
  functionMemoryMegabytes: Record<FunctionName, number>;
  functionTimeoutSeconds: number;
  /** How long API Gateway reuses the authorizer's decision: as long as a revoked key can go on working. */
  authorizerCacheSeconds: number;
  /** Whether new code gets a tenth of the requests for five minutes first; all of them at once without. */
  deploysByCanary: boolean;
  /** What the stage lets through in all, and how many more it takes in one go (token bucket). */
  requestsPerSecond: number;
  requestBurst: number;
  /** Limits of the web ACL for one IP address and one API key; no web ACL without. */
  firewall?: { requestsPerMinutePerAddress: number; requestsPerMinutePerKey: number };
  /** Who is told of alarms; whoever subscribes to the topic AlarmTopic without. */
  alarmEmail?: string;
  /** A domain of its own: the interface is then at `https://{domainName}/v1`, and at no other address. */
  domainName?: string;
  /** Certificate for it in AWS Certificate Manager, in the stage's region. */
  certificateArn?: string;
  /** Route 53 zone in which it gets its records. */
  hostedZoneId?: string;
}

const common = {
  listPartitions: 1,
  recordedListPartitions: 1,
  functionMemoryMegabytes: { listPets: 512, createPet: 512, getPet: 512, authorizer: 512 },
  functionTimeoutSeconds: 10,
  authorizerCacheSeconds: 60,
};

export const stages = {
  staging: {
    ...common,
    keepsData: false,
    recoveryDays: 1,
    maxReadUnitsPerSecond: 1_000,
    maxWriteUnitsPerSecond: 200,
    logRetentionDays: 14,
    deploysByCanary: false,
    requestsPerSecond: 100,
    requestBurst: 200,
  },
  production: {
    ...common,
    keepsData: true,
    recoveryDays: 35,
    maxReadUnitsPerSecond: 20_000,
    maxWriteUnitsPerSecond: 4_000,
    logRetentionDays: 365,
    deploysByCanary: true,
    requestsPerSecond: 1_000,
    requestBurst: 2_000,
    firewall: { requestsPerMinutePerAddress: 6_000, requestsPerMinutePerKey: 30_000 },
  },
} as const satisfies Record<string, StageSettings>;

export type StageName = keyof typeof stages;
