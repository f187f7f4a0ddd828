import { expect, test } from '@jest/globals';
import { countResources, type ResourceCounts } from '../../../../infra/operate/cost/count.ts';
import { type Amounts, assumptions, monthlyCost } from '../../../../infra/operate/cost/model.ts';
import { stages } from '../../../../infra/stages.ts';
import { resourcesOf, stackTemplate } from '../../../support/stack-template.ts';

// The expected costs below were computed by hand from these inputs and from AWS's units and prices.
const settings = {
  ...stages.production,
  listPartitions: 1,
  logRetentionDays: 365,
  authorizerCacheSeconds: 60,
};
const parts: ResourceCounts = {
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

type Change = Partial<typeof settings & ResourceCounts>;
const noReuse = { authorizerCacheSeconds: 0 };
const memoryMegabytes = { listPets: 1_024, createPet: 2_048, getPet: 512, authorizer: 256 };
const noWebAcl = { webAcls: 0, webAclRules: 0 };

test.each<[price: keyof Amounts, perSecond: number, change: Change, dollars: number]>([
  ['requests', 1_000, {}, 6_907.74], // 333 × 3.50 + 667 × 2.80 + 1,628 × 2.38 (three tiers)
  // 0.5 × 2.628 × (2.9 + 0.4) × 0.625 (creates per second × million seconds × units of a pet and an intent × price)
  ['writes', 10, {}, 2.7101],
  // (26.28 × 0.8 × 0.5 + 26.28 × 0.15 + 2.628 × 100 / 70) × 0.125 (0.5 units per list partition)
  ['reads', 10, {}, 2.276],
  ['reads', 10, { listPartitions: 4 }, 6.218],
  ['invocations', 10, {}, 6.007], // (26.28 + 2.628 × 100 / 70) × 0.20
  ['invocations', 10, noReuse, 10.512], // (26.28 + 26.28) × 0.20
  // (26.28 million × 9.65 ms + 0.5256 million × 5 ms + 3.754 million × 8 ms) × 0.5 GB × 0.0000133334
  ['duration', 10, {}, 1.908],
  // 26.28 million × (8 ms × 1 GB + 1.05 ms × 0.5 GB + 0.6 ms × 2 GB) × 0.0000133334
  // + (0.5256 million × 5 ms × 2 GB + 3.754 million × 8 ms × 0.25 GB) × 0.0000133334
  ['duration', 10, { memoryMegabytes }, 3.5779],
  // Pets: 0.5 × 2,628,000 × 12 × 250 bytes = 3.67127 GB. Intents: 0.2 × 259,200 × 275 bytes = 0.01328 GB.
  ['storage', 10, {}, 2.665], // (3.67127 × 2.9 + 0.01328) × 0.25
  ['recovery', 10, {}, 0.7369], // (3.67127 + 0.01328) × 0.20
  ['logs', 10, {}, 5.801], // 26.28 million × (420 + 54) bytes × 0.50 per GB
  ['logStorage', 10, {}, 0.835], // 11.601 GB × 0.2 × 12 months × 0.03
  ['traces', 0.5, {}, 6.57], // 0.5 × 2.628 × 5.00
  ['traces', 10, {}, 19.05], // (1 + 0.05 × 9) × 2.628 × 5.00
  ['webAclRequests', 10, {}, 15.768], // 26.28 × 0.60
  ['webAclRequests', 10, noWebAcl, 0],
])(
  'computes the monthly cost of %s at %d requests per second with the settings %j',
  (price, perSecond, change, dollars) => {
    const stage = { settings: { ...settings, ...change }, parts: { ...parts, ...change } };
    const digits = String(dollars).split('.')[1]?.length ?? 0;
    expect(monthlyCost(stage, perSecond, assumed)[price]).toBeCloseTo(dollars, digits);
  },
);

test('the cost of a stage without requests consists of alarms, dashboards and Contributor Insights rules', () => {
  const staging = { settings: stages.staging, parts: countResources(stackTemplate('staging')) };
  const charged = Object.entries(monthlyCost(staging, 0)).filter(([, dollars]) => dollars !== 0);
  expect(charged.map(([name]) => name)).toEqual(['alarms', 'dashboards', 'contributorRules']);
});

test.each(['staging', 'production'] as const)(
  'counts the resources in the template of the stage %s',
  (stage) => {
    const template = stackTemplate(stage);
    const counted = countResources(template);
    // Some alarms watch several metrics, so there are more watched metrics than alarms.
    expect(counted.alarms).toBeGreaterThan(resourcesOf(template, 'AWS::CloudWatch::Alarm').length);
    expect(counted).toMatchObject({
      dashboards: 1,
      // The tables have 3 key attributes, and the indexes have 6.
      contributorRules: 9,
      webAcls: stage === 'production' ? 1 : 0,
      webAclRules: stage === 'production' ? 5 : 0,
      memoryMegabytes: { listPets: 512, authorizer: 512 },
    });
  },
);
