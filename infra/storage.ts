import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, Billing, TableV2, type TablePropsV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { listIndexes } from '../shared/environment.ts';
import type { StageSettings } from './stages.ts';

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

    this.pets = new TableV2(this, 'Pets', {
      ...protection,
      partitionKey: { name: 'id', type: AttributeType.NUMBER },
      globalSecondaryIndexes: Object.values(listIndexes).map(({ indexName, partitionKey }) => ({
        indexName,
        partitionKey: { name: partitionKey, type: AttributeType.STRING },
        sortKey: { name: 'id', type: AttributeType.NUMBER },
      })),
    });
    this.apiKeys = new TableV2(this, 'ApiKeys', {
      ...protection,
      partitionKey: { name: 'hash', type: AttributeType.STRING },
    });
  }
}
