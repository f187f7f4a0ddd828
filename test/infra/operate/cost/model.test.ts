import { describe, expect, test } from '@jest/globals';
import { assumptions, monthlyCost } from '../../../../infra/operate/cost/model.ts';
import { standingParts, type StandingParts } from '../../../../infra/operate/cost/parts.ts';
import { stages } from '../../../../infra/stages.ts';
import { resourcesOf, stackTemplate } from '../../../support/stack-template.ts';

// Literal where the figures below depend on it; every expected figure was computed by hand from AWS's units and prices.
const settings = {
  ...stages.production,
  listPartitions: 1,
  logRetentionDays: 365,
  authorizerCacheSeconds: 60,
};
const parts: StandingParts = {
  alarms: 31,
  dashboards: 1,
  contributorRules: 9,
  webAcls: 1,
  webAclRules: 4,
  memoryMegabytes: { listPets: 512, createPet: 512, getPet: 512, authorizer: 512 },
};
const assumed: typeof assumptions = {
  ...assumptions,
  operationShares: { listPets: 0.8, getPet: 0.15, createPet: 0.05 },
  petsPerList: 20,
  petBytes: 150,
  shareOfCreatesWithIdempotencyKey: 0.4,
  intentBytes: 175,
  daysOfIntents: 3,
  storageOverheadBytes: 100,
  shareOfPetsWithStatus: 0.9,
  monthsOfPets: 12,
  apiKeys: 100,
  billedMilliseconds: { listPets: 10, getPet: 7, createPet: 12, intent: 5, authorizer: 8 },
  accessLogBytes: 420,
  metricLogBytes: { listPets: 0, getPet: 290, createPet: 210 },
  compressedLogShare: 0.2,
  tracedShare: 0.05,
};
const cost = (
  perSecond: number,
  changed: Partial<typeof settings> = {},
  changedParts: Partial<StandingParts> = {},
) =>
  monthlyCost(
    { settings: { ...settings, ...changed }, parts: { ...parts, ...changedParts } },
    perSecond,
    assumed,
  );

describe('the cost of a month', () => {
  test('has the first 2,628 million requests to API Gateway in three tiers', () => {
    // 333 × 3.50 + 667 × 2.80 + 1,628 × 2.38
    expect(cost(1_000).requests).toBeCloseTo(6_907.74, 2);
  });

  test('has a unit written for a pet, one for each of its lists, and one for its intent if it has one', () => {
    // 0.5 creates a second × 2.628 million × (2.9 + 0.4) × 0.625
    expect(cost(10).writes).toBeCloseTo(2.7101, 4);
  });

  test('has half a unit read by a list of each index key, one by a pet and one by a decision of the authorizer', () => {
    // (26.28 × 0.8 × 0.5 + 26.28 × 0.15 + 2.628 × 100 / 70) × 0.125
    expect(cost(10).reads).toBeCloseTo(2.276, 3);
    // (26.28 × 0.8 × 2 + 26.28 × 0.15 + 2.628 × 100 / 70) × 0.125
    expect(cost(10, { listPartitions: 4 }).reads).toBeCloseTo(6.218, 3);
  });

  test('has fewer decisions of the authorizer the longer they are reused', () => {
    // (26.28 + 2.628 × 100 / 70) × 0.20
    expect(cost(10).invocations).toBeCloseTo(6.007, 3);
    // (26.28 + 26.28) × 0.20: without reuse every request is decided on
    expect(cost(10, { authorizerCacheSeconds: 0 }).invocations).toBeCloseTo(10.512, 3);
  });

  test('has the time of functions by their memory', () => {
    // 26.28 million × 9.65 ms + 0.5256 million × 5 ms + 3.754 million × 8 ms are 286,264 s; × 0.5 GB × 0.0000133334
    expect(cost(10).duration).toBeCloseTo(1.908, 3);
    // 26.28 million × (8 ms × 1 GB + 1.05 ms × 0.5 GB + 0.6 ms × 2 GB) + 0.5256 million × 5 ms × 2 GB + 3.754 million × 8 ms × 0.25 GB
    const memoryMegabytes = { listPets: 1_024, createPet: 2_048, getPet: 512, authorizer: 256 };
    expect(cost(10, {}, { memoryMegabytes }).duration).toBeCloseTo(3.5779, 4);
  });

  test('has a year of pets in table and indexes and some days of intents, tables alone under point-in-time recovery', () => {
    // 0.5 × 2,628,000 × 12 pets of 250 bytes are 3.67127 GB; 0.2 × 259,200 intents of 275 bytes are 0.01328 GB
    // (3.67127 × 2.9 + 0.01328) × 0.25, and (3.67127 + 0.01328) × 0.20
    expect(cost(10).storage).toBeCloseTo(2.665, 4);
    expect(cost(10).recovery).toBeCloseTo(0.7369, 4);
  });

  test('has logs taken in once and kept for as long as the stage keeps them', () => {
    // 26.28 million × (420 + 54) bytes are 11.601 GB; × 0.50
    expect(cost(10).logs).toBeCloseTo(5.801, 3);
    // 11.601 GB × 0.2 × 12 months × 0.03
    expect(cost(10).logStorage).toBeCloseTo(0.835, 3);
    expect(cost(10, { logRetentionDays: 73 }).logStorage).toBeCloseTo(0.167, 3);
  });

  test('has a trace of the first request of each second and of one in twenty others', () => {
    // 2.628 million × 1 and × (1 + 0.05 × 9), × 5.00
    expect(cost(1).traces).toBeCloseTo(13.14, 2);
    expect(cost(10).traces).toBeCloseTo(19.05, 2);
    expect(cost(0.5).traces).toBeCloseTo(6.57, 2);
  });

  test('has a web ACL only where the template has one', () => {
    // 26.28 × 0.60
    expect(cost(10)).toMatchObject({ webAcls: 5, webAclRequests: expect.closeTo(15.768, 3) });
    expect(cost(10, {}, { webAcls: 0, webAclRules: 0 })).toMatchObject({
      webAcls: 0,
      webAclRules: 0,
      webAclRequests: 0,
    });
  });

  test('has nothing but what stands there when nobody calls', () => {
    const nonzero = Object.entries(
      monthlyCost({ settings: stages.staging, parts: standingParts('staging') }, 0),
    ).filter(([, dollars]) => dollars !== 0);
    expect(nonzero.map(([name]) => name)).toEqual(['alarms', 'dashboards', 'contributorRules']);
  });
});

describe('the parts of a template', () => {
  test.each(['staging', 'production'] as const)('are counted in that of %s', (stage) => {
    const alarms = resourcesOf(stackTemplate(stage), 'AWS::CloudWatch::Alarm').map(
      ([, { Properties }]) => Properties,
    );
    const counted = standingParts(stage);
    // Most watch one metric, those with a formula several.
    expect(counted.alarms).toBeGreaterThan(alarms.length);
    expect(counted).toMatchObject({
      dashboards: 1,
      // Keys of three tables, and of three indexes with two each.
      contributorRules: 9,
      webAcls: stage === 'production' ? 1 : 0,
      webAclRules: stage === 'production' ? 4 : 0,
      memoryMegabytes: { listPets: 512, authorizer: 512 },
    });
  });
});
