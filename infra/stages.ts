/** Settings of one stage. Units are in the names. */
export interface StageSettings {
  /**
   * Keys over which new pets are spread in each list index; one sustains 1,000 creates a second.
   * May grow at any deployment and must never shrink: pets under the keys beyond would vanish from lists. So raise it
   * in a deployment of its own, and when that is rolled back, deploy it again at once.
   */
  listPartitions: number;
  /** Whether tables outlive the stack, can't be deleted by accident and can be restored to a point in time. */
  keepsData: boolean;
  logRetentionDays: number;
  functionMemoryMegabytes: number;
  functionTimeoutSeconds: number;
  /** How long API Gateway reuses the authorizer's decision: as long as a revoked key can go on working. */
  authorizerCacheSeconds: number;
}

const common = {
  listPartitions: 1,
  functionMemoryMegabytes: 512,
  functionTimeoutSeconds: 10,
  authorizerCacheSeconds: 60,
};

export const stages = {
  staging: { ...common, keepsData: false, logRetentionDays: 14 },
  production: { ...common, keepsData: true, logRetentionDays: 365 },
} as const satisfies Record<string, StageSettings>;

export type StageName = keyof typeof stages;
