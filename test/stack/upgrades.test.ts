import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { stackTemplate } from '../support/stack-template.ts';
import { problemsOfUpdate, type Resources, resourcesIn } from './upgrades/resources.ts';
import { variantTemplate } from './variants.ts';

test('a deployment keeps the data, addresses and subscriptions of the released stacks', async () => {
  const released: Record<string, Resources> = JSON.parse(
    readFileSync('test/stack/upgrades/released.json', 'utf8'),
  );
  const templates = {
    account: stackTemplate('account'),
    staging: stackTemplate('staging'),
    production: await variantTemplate('everySetting'),
  };
  const problems = Object.entries(templates).map(([stage, template]) => [
    stage,
    problemsOfUpdate(released[stage]!, resourcesIn(stage, template)),
  ]);
  expect(Object.fromEntries(problems)).toEqual({ account: [], staging: [], production: [] });
});

describe('an update', () => {
  const retained = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };
  const before = {
    Pets: {
      Type: 'AWS::DynamoDB::GlobalTable',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [
          { AttributeName: 'id', AttributeType: 'N' },
          { AttributeName: 'list', AttributeType: 'S' },
        ],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        GlobalSecondaryIndexes: [index('newest'), index('newest-by-status')],
      },
      ...retained,
    },
    Topic: { Type: 'AWS::SNS::Topic', Properties: {} },
    Mail: {
      Type: 'AWS::SNS::Subscription',
      Properties: { TopicArn: { Ref: 'Topic' }, Protocol: 'email', Endpoint: 'operators@example.com' },
    },
    Log: { Type: 'AWS::Logs::LogGroup', Properties: { LogGroupName: 'aws-waf-logs-a' }, ...retained },
    Firewall: { Type: 'AWS::WAFv2::WebACL', Properties: { Name: 'PetStore' } },
  };
  type Change = (resources: Record<string, any>) => void;

  /** Returns the problems of an update to a changed copy of the resources. */
  function problemsAfter(change: Change): string[] {
    const after = structuredClone(before);
    change(after);
    return problemsOfUpdate(
      resourcesIn('production', { Resources: before }),
      resourcesIn('production', { Resources: after }),
    );
  }

  test.each<[string, Change]>([
    ['with another index', ({ Pets }) => addIndexes(Pets, 'newest-by-price')],
    ['without an index', ({ Pets }) => Pets.Properties.GlobalSecondaryIndexes.pop()],
    [
      'with a new table with more indexes',
      (all) => {
        all['Owners'] = structuredClone(all['Pets']);
        addIndexes(all['Owners'], 'newest-by-price', 'newest-by-size');
      },
    ],
    ['with another billing mode', ({ Pets }) => (Pets.Properties.BillingMode = 'PROVISIONED')],
    ['without the firewall', (all) => delete all['Firewall']],
  ])('%s is possible', (_what, change) => {
    expect(problemsAfter(change)).toEqual([]);
  });

  const table = 'Pets (AWS::DynamoDB::GlobalTable)';
  /** End of the messages about resources that a developer may want to lose. */
  const accept = 'If you mean to lose it, run npm run release:stacks.';
  test.each<[string, Change, ...string[]]>([
    [
      'with two more indexes',
      ({ Pets }) => addIndexes(Pets, 'newest-by-price', 'newest-by-size'),
      `${table} would add or delete 2 indexes (newest-by-price, newest-by-size), but an update can only add or delete one. Deploy and release them one after the other.`,
    ],
    [
      'with an index in place of another index',
      ({ Pets }) => {
        Pets.Properties.GlobalSecondaryIndexes.shift();
        addIndexes(Pets, 'newest-by-price');
      },
      `${table} would add or delete 2 indexes (newest, newest-by-price), but an update can only add or delete one. Deploy and release them one after the other.`,
    ],
    [
      'with other keys of an index',
      ({ Pets }) => Pets.Properties.GlobalSecondaryIndexes[0].KeySchema.pop(),
      `The index newest of ${table} cannot change. Add an index with another name.`,
    ],
    [
      'with another type of a key',
      ({ Pets }) => (Pets.Properties.AttributeDefinitions[0].AttributeType = 'B'),
      `The type of id in ${table} cannot change. Use another attribute.`,
    ],
    [
      'with another key of a table',
      ({ Pets }) => (Pets.Properties.KeySchema[0].AttributeName = 'key'),
      `CloudFormation would replace ${table} and lose its items, because KeySchema changes. Restore the value. ${accept}`,
    ],
    [
      'with a renamed construct of a table',
      (all) => rename(all, 'Pets'),
      `The stack would no longer use ${table} and its items. Restore its logical id, which follows from the ids of its constructs. ${accept}`,
    ],
    [
      'with a renamed construct of a topic',
      (all) => rename(all, 'Topic'),
      `The stack would delete Topic (AWS::SNS::Topic) and its subscriptions. Restore its logical id, which follows from the ids of its constructs. ${accept}`,
      `CloudFormation would replace Mail (AWS::SNS::Subscription) and lose its subscriber's confirmation, because TopicArn changes. Restore the value. ${accept}`,
    ],
    [
      'with a renamed construct of a log with a fixed name',
      (all) => rename(all, 'Log'),
      `The stack would no longer use Log (AWS::Logs::LogGroup) and its log. Restore its logical id, which follows from the ids of its constructs. ${accept}`,
      'Log2 cannot be created, because Log still has the same fixed name. Restore the logical id Log, or choose another name.',
    ],
    [
      'with another type under the same logical id',
      (all) => (all['Pets'] = { Type: 'AWS::Logs::LogGroup' }),
      `${table} would become AWS::Logs::LogGroup, which CloudFormation rejects. Give the new construct another id.`,
    ],
    [
      'without a removal policy',
      ({ Pets }) => (Pets.DeletionPolicy = 'Delete'),
      `${table} would no longer outlive the stack. Restore its removal policy. ${accept}`,
    ],
  ])('%s is rejected', (_what, change, ...problems) => {
    expect(problemsAfter(change)).toEqual(problems);
  });
});

/** Returns an index of the table. */
function index(IndexName: string) {
  const keys = { list: 'HASH', id: 'RANGE' };
  const KeySchema = Object.entries(keys).map(([AttributeName, KeyType]) => ({ AttributeName, KeyType }));
  return { IndexName, KeySchema, Projection: { ProjectionType: 'ALL' } };
}

function addIndexes({ Properties }: any, ...names: string[]): void {
  Properties.GlobalSecondaryIndexes.push(...names.map(index));
}

/** Changes a logical id and the references to it, as a new id of a construct does. */
function rename(resources: Record<string, any>, id: string): void {
  const renamed = JSON.parse(JSON.stringify(resources).replaceAll(`"${id}"`, `"${id}2"`));
  delete resources[id];
  Object.assign(resources, renamed);
}
