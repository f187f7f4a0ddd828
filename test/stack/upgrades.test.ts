import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { templatesOf } from '../support/template-of.ts';
import { currentResources, readReleased, releasedStages } from './upgrades/released.ts';
import { models, problemsOfUpdate, resourcesIn } from './upgrades/resources.ts';

const templates = templatesOf(releasedStages);
const template = templates['production']!;
const current = currentResources(templates);

describe('an update of the released stack', () => {
  const released = readReleased();
  test.each(Object.keys(current))('of %s keeps data, addresses and subscriptions', (stage) => {
    expect(problemsOfUpdate(released[stage]!, current[stage]!)).toEqual([]);
  });
});

describe('an update', () => {
  type Change = (resources: Record<string, any>) => void;

  const before = current['production']!;
  const idOf = (type: string) => Object.keys(before).find((id) => before[id]!.type === type)!;
  const table = idOf('AWS::DynamoDB::GlobalTable');
  const topic = idOf('AWS::SNS::Topic');
  /** End of the messages about resources that a developer may want to lose. */
  const accept = 'If you mean to lose it, run npm run release:stacks.';

  /** Returns the problems of an update to a changed copy of the template. */
  function problemsAfter(change: Change): string[] {
    const { Resources: resources } = structuredClone(template);
    change(resources);
    return problemsOfUpdate(before, resourcesIn('production', { Resources: resources }));
  }

  test.each<[string, Change]>([
    ['without changes', () => {}],
    ['with another index', (all) => addIndexes(all[table], 'newest-by-price')],
    ['without an index', (all) => all[table].Properties.GlobalSecondaryIndexes.pop()],
    [
      'with a new table with more indexes',
      (all) => {
        all['New'] = structuredClone(all[table]);
        addIndexes(all['New'], 'newest-by-price', 'newest-by-size');
      },
    ],
    ['with another billing mode', (all) => (all[table].Properties.BillingMode = 'PROVISIONED')],
    ['with a renamed construct of the firewall', (all) => rename(all, 'Firewall')],
    ['without the firewall', (all) => delete all['Firewall']],
  ])('%s is possible', (_what, change) => {
    expect(problemsAfter(change)).toEqual([]);
  });

  test.each<[string, Change, ...string[]]>([
    [
      'with two more indexes',
      (all) => addIndexes(all[table], 'newest-by-price', 'newest-by-size'),
      `${table} (AWS::DynamoDB::GlobalTable) would add or delete 2 indexes (newest-by-price, newest-by-size), but an update can only add or delete one. Deploy and release them one after the other.`,
    ],
    [
      'with an index in place of another index',
      (all) => {
        all[table].Properties.GlobalSecondaryIndexes.shift();
        addIndexes(all[table], 'newest-by-price');
      },
      `${table} (AWS::DynamoDB::GlobalTable) would add or delete 2 indexes (newest, newest-by-price), but an update can only add or delete one. Deploy and release them one after the other.`,
    ],
    [
      'with other keys of an index',
      (all) => all[table].Properties.GlobalSecondaryIndexes[0].KeySchema.pop(),
      `The index newest of ${table} (AWS::DynamoDB::GlobalTable) cannot change. Add an index with another name.`,
    ],
    [
      'with another type of a key',
      (all) => (all[table].Properties.AttributeDefinitions[0].AttributeType = 'B'),
      `The type of id in ${table} (AWS::DynamoDB::GlobalTable) cannot change. Use another attribute.`,
    ],
    [
      'with another key of a table',
      (all) => (all[table].Properties.KeySchema[0].AttributeName = 'key'),
      `CloudFormation would replace ${table} (AWS::DynamoDB::GlobalTable) and lose its items, because KeySchema changes. Restore the value. ${accept}`,
    ],
    [
      'with a named table',
      (all) => (all[table].Properties.TableName = 'items'),
      `CloudFormation would replace ${table} (AWS::DynamoDB::GlobalTable) and lose its items, because TableName changes. Restore the value. ${accept}`,
    ],
    [
      'with a renamed construct of a table',
      (all) => rename(all, table),
      `The stack would no longer use ${table} (AWS::DynamoDB::GlobalTable) and its items. Restore its logical id, which follows from the ids of its constructs. ${accept}`,
    ],
    [
      'with a renamed construct of a topic',
      (all) => rename(all, topic),
      `The stack would delete ${topic} (AWS::SNS::Topic) and its subscriptions. Restore its logical id, which follows from the ids of its constructs. ${accept}`,
      `CloudFormation would replace ${idOf('AWS::SNS::Subscription')} (AWS::SNS::Subscription) and lose its subscriber's confirmation, because TopicArn changes. Restore the value. ${accept}`,
    ],
    [
      'with another type under the same logical id',
      (all) => (all[table] = { Type: 'AWS::Logs::LogGroup' }),
      `${table} (AWS::DynamoDB::GlobalTable) would become AWS::Logs::LogGroup, which CloudFormation rejects. Give the new construct another id.`,
    ],
    [
      'without a removal policy',
      (all) => (all[table].DeletionPolicy = 'Delete'),
      `${table} (AWS::DynamoDB::GlobalTable) would no longer outlive the stack. Restore its removal policy. ${accept}`,
    ],
  ])('%s is rejected', (_what, change, ...problems) => {
    expect(problemsAfter(change).toSorted()).toEqual(problems.toSorted());
  });
});

// `cdk diff` uses this copy of AWS's specification of resources.
test('the properties whose change replaces a resource are those that AWS documents', () => {
  const { schema } = JSON.parse(gunzipSync(readFileSync('node_modules/aws-cdk/db.json.gz')).toString());
  const documented = Object.keys(models).map((type) => {
    const { properties } = schema.resource.entities.find((one: any) => one.cloudFormationType === type);
    const replacing = Object.entries<any>(properties).filter(([, one]) => one.causesReplacement === 'yes');
    return [type, replacing.map(([name]) => name).toSorted()];
  });
  expect(documented).toEqual(
    Object.entries(models).map(([type, { replacing }]) => [type, replacing.toSorted()]),
  );
});

function addIndexes({ Properties }: any, ...names: string[]): void {
  const [first] = Properties.GlobalSecondaryIndexes;
  for (const IndexName of names) Properties.GlobalSecondaryIndexes.push({ ...first, IndexName });
}

/** Changes a logical id and the references to it, as a new id of a construct does. */
function rename(resources: Record<string, any>, id: string): void {
  const renamed = JSON.parse(JSON.stringify(resources).replaceAll(`"${id}"`, `"${id}2"`));
  delete resources[id];
  Object.assign(resources, renamed);
}
