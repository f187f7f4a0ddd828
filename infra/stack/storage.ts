import { RemovalPolicy } from 'aws-cdk-lib';
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import {
  AttributeType,
  Billing,
  ContributorInsightsMode,
  type GlobalSecondaryIndexPropsV2,
  TableV2,
  type TablePropsV2,
} from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { keyIndex, listIndexes } from '../../shared/names.ts';
import type { StageSettings } from '../settings.ts';
import { FIVE_MINUTES } from './metrics.ts';
import type { Monitoring } from './monitoring.ts';

/** The tables of a stage. Each table has a throttling alarm. */
export class Storage extends Construct {
  readonly pets: TableV2;
  /** The idempotency records. */
  readonly intents: TableV2;
  readonly apiKeys: TableV2;
  readonly tables: TableV2[] = [];
  readonly throttles: MathExpression[] = [];

  constructor(scope: Construct, id: string, settings: StageSettings, monitoring: Monitoring) {
    super(scope, id);

    const add = (tableId: string, effect: string, props: TableProps): TableV2 => {
      const table = addTable(this, tableId, settings, props);
      const metric = throttlesOf(tableId, table, props.globalSecondaryIndexes);
      this.throttles.push(metric);
      this.tables.push(table);
      monitoring.addAlarm(`${tableId}Throttles`, {
        section: 'Table throttles',
        description: `${effect} slow or fail with a 503. DynamoDB throttled the ${tableId} table or its indexes.`,
        metric,
        threshold: 1,
      });
      return table;
    };
    this.pets = add('Pets', 'Requests are', {
      partitionKey: { name: 'id', type: AttributeType.NUMBER },
      globalSecondaryIndexes: Object.values(listIndexes).map(({ indexName, partitionKey }) => ({
        indexName,
        partitionKey: { name: partitionKey, type: AttributeType.STRING },
        sortKey: { name: 'id', type: AttributeType.NUMBER },
      })),
    });
    this.intents = add('Intents', 'Requests with an Idempotency-Key are', {
      partitionKey: { name: 'token', type: AttributeType.STRING },
      timeToLiveAttribute: 'expiresAt',
    });
    this.apiKeys = add('ApiKeys', 'Requests whose API key is not cached are', {
      partitionKey: { name: 'hash', type: AttributeType.STRING },
      globalSecondaryIndexes: [
        {
          indexName: keyIndex.indexName,
          partitionKey: { name: keyIndex.partitionKey, type: AttributeType.STRING },
          sortKey: { name: keyIndex.sortKey, type: AttributeType.STRING },
        },
      ],
    });
  }
}

type TableProps = TablePropsV2 & { globalSecondaryIndexes?: GlobalSecondaryIndexPropsV2[] };

function addTable(
  scope: Construct,
  id: string,
  { keepsData, recoveryDays, maxReadUnitsPerSecond, maxWriteUnitsPerSecond }: StageSettings,
  { globalSecondaryIndexes = [], ...props }: TableProps,
): TableV2 {
  const limits = { maxReadRequestUnits: maxReadUnitsPerSecond, maxWriteRequestUnits: maxWriteUnitsPerSecond };
  return new TableV2(scope, id, {
    ...props,
    globalSecondaryIndexes: globalSecondaryIndexes.map((index) => ({ ...index, ...limits })),
    billing: Billing.onDemand(limits),
    deletionProtection: keepsData,
    pointInTimeRecoverySpecification: {
      pointInTimeRecoveryEnabled: true,
      recoveryPeriodInDays: recoveryDays,
    },
    removalPolicy: keepsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    // Reports the throttled keys of the table and its indexes.
    contributorInsightsSpecification: { enabled: true, mode: ContributorInsightsMode.THROTTLED_KEYS },
  });
}

/**
 * Returns the number of throttled reads and writes of a table and its indexes. Alarms always ignore missing DynamoDB
 * data, so without FILL an alarm would never return to OK. However, FILL hides late data.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
 */
function throttlesOf(
  id: string,
  { tableName }: TableV2,
  indexes: readonly { indexName: string }[] = [],
): MathExpression {
  const name = `${id.charAt(0).toLowerCase()}${id.slice(1)}`;
  const targets = [
    { TableName: tableName },
    ...indexes.map(({ indexName }) => ({ TableName: tableName, GlobalSecondaryIndexName: indexName })),
  ];
  const events = targets.flatMap((dimensionsMap) =>
    ['ReadThrottleEvents', 'WriteThrottleEvents'].map(
      (metricName) =>
        new Metric({
          namespace: 'AWS/DynamoDB',
          metricName,
          dimensionsMap,
          statistic: Stats.SUM,
          period: FIVE_MINUTES,
        }),
    ),
  );
  const usingMetrics = Object.fromEntries(events.map((event, index) => [`${name}${index}`, event]));
  const terms = Object.keys(usingMetrics).map((metricId) => `FILL(${metricId}, 0)`);
  return new MathExpression({
    expression: `SUM([${terms.join(', ')}])`,
    usingMetrics,
    label: `Throttled, ${name}`,
    period: FIVE_MINUTES,
  });
}
