import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, Billing, TableV2, type TablePropsV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import type { StageSettings } from './stages.ts';

/** The indexes that serve lists, each sparse and newest first. Their names stand in shared/pets.ts as well. */
export const listIndexes = ['newest', 'newest-by-status'] as const;

/** The tables of a stage. */
export class Storage extends Construct {
  readonly pets: TableV2;
  readonly apiKeys: TableV2;

  constructor(scope: Construct, id: string, { keepsData }: Pick<StageSettings, 'keepsData'>) {
    super(scope, id);

    const protection: Partial<TablePropsV2> = {
      billing: Billing.onDemand(),
      deletionProtection: keepsData,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: keepsData },
      removalPolicy: keepsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    };
    const newestFirst = { name: 'id', type: AttributeType.NUMBER };

    this.pets = new TableV2(this, 'Pets', {
      ...protection,
      partitionKey: { name: 'id', type: AttributeType.NUMBER },
      globalSecondaryIndexes: [
        {
          indexName: listIndexes[0],
          partitionKey: { name: 'partition', type: AttributeType.STRING },
          sortKey: newestFirst,
        },
        {
          indexName: listIndexes[1],
          partitionKey: { name: 'statusPartition', type: AttributeType.STRING },
          sortKey: newestFirst,
        },
      ],
    });
    this.apiKeys = new TableV2(this, 'ApiKeys', {
      ...protection,
      partitionKey: { name: 'hash', type: AttributeType.STRING },
    });
  }
}
