import { describe, expect, test } from '@jest/globals';
import { collectionTests } from '../../collections/all.ts';
import { shortId } from '../../support/logical-ids.ts';
import { backup, stages } from '../../support/stages.ts';
import { propertiesOf, readable } from '../../support/stack-template.ts';
import { templateOf } from '../../support/template-of.ts';

const [without, withBackup] = [{}, { backup }].map((settings) =>
  readable(templateOf({ stage: 'production', settings: { ...stages.production, ...settings } })),
) as [any, any];
const tables = [
  ...Object.values(collectionTests).map(({ table }) => shortId(table.logicalId)),
  'StorageApiKeys',
];

const update = (status: string, stack = '${AWS::StackId}') => ({
  source: 'aws.cloudformation',
  'detail-type': 'CloudFormation Stack Status Change',
  detail: { 'stack-id': stack, 'status-details': { status, 'status-reason': '' } },
});
const health = (service: string, eventTypeCategory: string, eventRegion = '${AWS::Region}') => ({
  source: 'aws.health',
  'detail-type': 'AWS Health Event',
  detail: { service, eventTypeCategory, eventRegion, eventScopeCode: 'PUBLIC' },
});
const backupJob = (job: string, state: string, resourceArn = '${StorageApiKeys.Arn}') => ({
  source: 'aws.backup',
  'detail-type': `${job} Job State Change`,
  detail: { resourceArn, resourceType: 'DynamoDB', state },
});

// AWS documents the fields of these events on the pages that infra/stack/event-rules.ts links.
describe('the topic NoticeTopic gets', () => {
  test.each([
    ['a rollback', update('UPDATE_ROLLBACK_IN_PROGRESS')],
    ['a failed rollback', update('UPDATE_ROLLBACK_FAILED')],
    ['a failed update that is not rolled back', update('UPDATE_FAILED')],
    ['a problem of DynamoDB', health('DYNAMODB', 'issue')],
    ['the end of a runtime of Lambda', health('LAMBDA', 'scheduledChange')],
    ['a failed backup', backupJob('Backup', 'FAILED')],
    ['a backup that did not start in time', backupJob('Backup', 'EXPIRED')],
    ...tables.map(
      (table) => [`a failed copy of ${table}`, backupJob('Copy', 'FAILED', `\${${table}.Arn}`)] as const,
    ),
  ])('%s', (_what, event) => {
    expect(targetsOf(withBackup, event)).toEqual(['${MonitoringNoticeTopic}']);
  });
});

describe('nobody gets', () => {
  test.each([
    ['a finished update', update('UPDATE_COMPLETE')],
    ['a finished rollback, after the mail about its start', update('UPDATE_ROLLBACK_COMPLETE')],
    [
      'a rollback of another stack',
      update('UPDATE_ROLLBACK_IN_PROGRESS', 'arn:aws:cloudformation:a:1:stack/B/2'),
    ],
    ['a problem of another service', health('EC2', 'issue')],
    ['a problem of another region', health('DYNAMODB', 'issue', 'eu-west-9')],
    ['information about the account', health('LAMBDA', 'accountNotification')],
    ['a finished backup', backupJob('Backup', 'COMPLETED')],
    ['a failed backup of another table', backupJob('Backup', 'FAILED', 'arn:aws:dynamodb:a:1:table/B')],
    ['a failed restore', backupJob('Restore', 'FAILED')],
  ])('%s', (_what, event) => {
    expect(targetsOf(withBackup, event)).toEqual([]);
  });

  test('events of AWS Backup in a stage without backups', () => {
    expect(targetsOf(without, backupJob('Backup', 'FAILED'))).toEqual([]);
  });
});

/** Returns the targets of the rules that match an event. */
function targetsOf(template: any, event: object): string[] {
  const rules = propertiesOf(template, 'AWS::Events::Rule');
  expect(rules).not.toEqual([]);
  return rules
    .filter(({ EventPattern, State = 'ENABLED' }) => {
      // A rule with a schedule has no pattern.
      return State === 'ENABLED' && EventPattern && isMatch(EventPattern, event);
    })
    .flatMap(({ Targets }) => Targets.map(({ Arn }: any) => Arn));
}

/**
 * Returns whether an event matches a pattern that consists of lists of exact values.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html
 */
function isMatch(pattern: any, value: any): boolean {
  if (Array.isArray(pattern)) return pattern.includes(value);
  return Object.entries(pattern).every(([name, part]) => isMatch(part, value?.[name]));
}
