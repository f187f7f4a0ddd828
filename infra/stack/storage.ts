import { RemovalPolicy } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import type { Collection } from '../../shared/contract/operation.ts';
import { collections } from '../../shared/contract/operations.ts';
import { listIndexes } from '../../shared/contract/lists.ts';
import { keyIndex, pascalCase, serviceTag } from '../../shared/names.ts';
import { FIVE_MINUTES, type StageStack } from './stage-stack.ts';

const number = (name: string) => ({ name, type: dynamodb.AttributeType.NUMBER });
const text = (name: string) => ({ name, type: dynamodb.AttributeType.STRING });

/** Returns the partition key of an index: an integer field is a number, and any other field or attribute is a text. */
export function indexKey({ item }: Pick<Collection, 'item'>, name: string): dynamodb.Attribute {
  const field = item.entries[name];
  const schema = field && 'wrapped' in field ? field.wrapped : field; // wrapped if optional
  return schema?.type === 'bigint' ? number(name) : text(name);
}

/** Adds the tables of a stage and their alarms. */
export function addTables(stack: StageStack) {
  const scope = new Construct(stack, 'Storage');
  const { indexName, partitionKey, sortKey } = keyIndex;
  const { warmThroughput } = stack.stage;
  const warm = warmThroughput && { warmThroughput };
  return {
    /** Tables of the items by the collection's `plural`. */
    ofCollections: new Map(
      collections.map((collection) => [
        collection.plural as string,
        new Table(scope, pascalCase(collection.plural), stack, {
          effect: `Requests for ${collection.plural} are`,
          ...warm,
          partitionKey: number('id'),
          globalSecondaryIndexes: listIndexes(collection).map((index) => ({
            indexName: index.indexName,
            partitionKey: indexKey(collection, index.partitionKey),
            sortKey: number('id'),
          })),
        }),
      ]),
    ),
    idempotencyRecords: new Table(scope, 'IdempotencyRecords', stack, {
      effect: 'Requests with an Idempotency-Key are',
      ...warm,
      partitionKey: text('token'),
      timeToLiveAttribute: 'expiresAt',
    }),
    apiKeys: new Table(scope, 'ApiKeys', stack, {
      effect: 'Requests whose API key is not cached are',
      partitionKey: text('hash'),
      globalSecondaryIndexes: [{ indexName, partitionKey: text(partitionKey), sortKey: text(sortKey) }],
    }),
  };
}

export type Tables = ReturnType<typeof addTables>;

/**
 * Limits that requests can exceed, as in the names of metrics.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html
 */
const LIMITS = ['Read', 'Write'].flatMap((access) =>
  ['MaxOnDemandThroughput', 'KeyRangeThroughput', 'AccountLimit'].map((limit) => `${access}${limit}`),
);

interface TableProps extends dynamodb.TablePropsV2 {
  /** Start of the alarm's description: the requests that need the table, and a verb, as in "Requests are". */
  effect: string;
}

/** An on-demand table with a throttling alarm. Its indexes have the same limits as the table. */
export class Table extends dynamodb.TableV2 {
  /**
   * Number of throttled reads and writes of the table and its indexes. Alarms always ignore missing DynamoDB data, so
   * without FILL an alarm would never return to OK. However, FILL replaces late data with zero until they arrive.
   * https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
   */
  readonly throttles: cloudwatch.MathExpression;
  /** Throttled requests to the table and its indexes, by the limit that they exceeded. */
  readonly throttlesByLimit: cloudwatch.Metric[];
  /** Average latencies of the functions' calls in milliseconds. They do not include throttled calls. */
  readonly latencies: cloudwatch.Metric[];

  constructor(scope: Construct, id: string, stack: StageStack, props: TableProps) {
    const { stage } = stack;
    const { effect, globalSecondaryIndexes: indexes = [], ...others } = props;
    const { warmThroughput } = props;
    const limits = {
      maxReadRequestUnits: stage.maxReadUnitsPerSecond,
      maxWriteRequestUnits: stage.maxWriteUnitsPerSecond,
    };
    super(scope, id, {
      ...others,
      globalSecondaryIndexes: indexes.map((index) => ({
        ...index,
        ...limits,
        ...(warmThroughput && { warmThroughput }),
      })),
      billing: dynamodb.Billing.onDemand(limits),
      deletionProtection: stage.retainData,
      pointInTimeRecoverySpecification: {
        pointInTimeRecoveryEnabled: true,
        recoveryPeriodInDays: stage.recoveryDays,
      },
      removalPolicy: stage.retainData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      // A global table has no tags, so those of the stack do not reach its replica.
      // https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-dynamodb-globaltable-replicaspecification.html
      tags: [
        { key: 'service', value: serviceTag },
        { key: 'stage', value: stage.name },
      ],
    });
    // CloudWatch requires metric ids to start with a lowercase letter.
    const label = `${id.charAt(0).toLowerCase()}${id.slice(1)}`;
    const tableAndIndexes = [undefined, ...indexes.map(({ indexName }) => indexName)];
    const metrics = tableAndIndexes.flatMap((indexName) => [
      this.throttleEvents('ReadThrottleEvents', indexName),
      this.throttleEvents('WriteThrottleEvents', indexName),
    ]);
    this.throttlesByLimit = tableAndIndexes.flatMap((indexName) =>
      LIMITS.map((name) => this.throttleEvents(`${name}ThrottleEvents`, indexName)),
    );
    this.latencies = ['Query', 'PutItem', 'GetItem'].map(
      (Operation) =>
        new cloudwatch.Metric({
          namespace: 'AWS/DynamoDB',
          metricName: 'SuccessfulRequestLatency',
          dimensionsMap: { TableName: this.tableName, Operation },
          statistic: 'Average',
          label: `${Operation} ${label}`,
        }),
    );
    const usingMetrics = Object.fromEntries(metrics.map((metric, index) => [`${label}${index}`, metric]));
    const counts = Object.keys(usingMetrics).map((metricId) => `FILL(${metricId}, 0)`);
    this.throttles = new cloudwatch.MathExpression({
      expression: `SUM([${counts.join(', ')}])`,
      usingMetrics,
      label: `Throttled, ${label}`,
      period: FIVE_MINUTES,
    });
    stack.addAlarm(`${id}Throttles`, {
      urgency: 'mail',
      section: 'Table throttles',
      description: `${effect} slow or fail with a 503. DynamoDB throttled the ${id} table or its indexes in two periods of 5 minutes.`,
      metric: this.throttles,
      // The SDK retries throttled calls, so clients do not notice a short burst.
      datapointsToAlarm: 2,
    });
  }

  /** Returns the number of throttled requests to an index, or to the table if `indexName` is omitted. */
  private throttleEvents(metricName: string, indexName?: string): cloudwatch.Metric {
    return new cloudwatch.Metric({
      namespace: 'AWS/DynamoDB',
      metricName,
      dimensionsMap: {
        TableName: this.tableName,
        ...(indexName !== undefined && { GlobalSecondaryIndexName: indexName }),
      },
      statistic: 'Sum',
    });
  }
}
