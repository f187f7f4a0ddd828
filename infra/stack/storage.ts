import { RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  Billing,
  ContributorInsightsMode,
  TableV2,
  type TablePropsV2,
} from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { keyIndex, listIndexes } from '../../shared/names.ts';
import type { StageSettings } from '../settings.ts';

/** The tables of a stage. */
export class Storage extends Construct {
  readonly pets: TableV2;
  /** What requests with an `Idempotency-Key` are going to do, for as long as they may be repeated. */
  readonly intents: TableV2;
  readonly apiKeys: TableV2;

  constructor(scope: Construct, id: string, settings: StageSettings) {
    super(scope, id);

    const { keepsData, recoveryDays, maxReadUnitsPerSecond, maxWriteUnitsPerSecond } = settings;
    const limits = {
      maxReadRequestUnits: maxReadUnitsPerSecond,
      maxWriteRequestUnits: maxWriteUnitsPerSecond,
    };
    const common: Partial<TablePropsV2> = {
      billing: Billing.onDemand(limits),
      deletionProtection: keepsData,
      pointInTimeRecoverySpecification: {
        pointInTimeRecoveryEnabled: true,
        recoveryPeriodInDays: recoveryDays,
      },
      removalPolicy: keepsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      // Names the keys that are asked for more than DynamoDB gives one key; of the indexes too.
      contributorInsightsSpecification: { enabled: true, mode: ContributorInsightsMode.THROTTLED_KEYS },
    };

    this.pets = new TableV2(this, 'Pets', {
      ...common,
      partitionKey: { name: 'id', type: AttributeType.NUMBER },
      globalSecondaryIndexes: Object.values(listIndexes).map(({ indexName, partitionKey }) => ({
        indexName,
        ...limits,
        partitionKey: { name: partitionKey, type: AttributeType.STRING },
        sortKey: { name: 'id', type: AttributeType.NUMBER },
      })),
    });
    this.intents = new TableV2(this, 'Intents', {
      ...common,
      partitionKey: { name: 'token', type: AttributeType.STRING },
      timeToLiveAttribute: 'expiresAt',
    });
    this.apiKeys = new TableV2(this, 'ApiKeys', {
      ...common,
      partitionKey: { name: 'hash', type: AttributeType.STRING },
      globalSecondaryIndexes: [
        {
          indexName: keyIndex.indexName,
          ...limits,
          partitionKey: { name: keyIndex.partitionKey, type: AttributeType.STRING },
          sortKey: { name: keyIndex.sortKey, type: AttributeType.STRING },
        },
      ],
    });
  }
}
