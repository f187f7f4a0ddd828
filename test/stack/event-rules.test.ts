import { expect, test } from '@jest/globals';
import { propertiesOf, readableTemplate } from '../support/stack-template.ts';

const [staging, production] = [readableTemplate('staging'), readableTemplate('production')];

const update = (status: string, stack = '${AWS::StackId}') => ({
  source: 'aws.cloudformation',
  'detail-type': 'CloudFormation Stack Status Change',
  detail: { 'stack-id': stack, 'status-details': { status, 'status-reason': '' } },
});
const deployment = (state: string, application = '${CanaryApplication}') => ({
  source: 'aws.codedeploy',
  'detail-type': 'CodeDeploy Deployment State-change Notification',
  detail: { application, deploymentGroup: 'a', deploymentId: 'd-1', state },
});

// AWS documents the fields of these events on the pages that infra/stack/event-rules.ts links.
test('the topic NoticeTopic gets the events of failed updates and canaries of the stack', () => {
  const events: [what: string, event: object, isSent: boolean][] = [
    ['a rollback', update('UPDATE_ROLLBACK_IN_PROGRESS'), true],
    ['a failed rollback', update('UPDATE_ROLLBACK_FAILED'), true],
    ['a failed update that is not rolled back', update('UPDATE_FAILED'), true],
    ['a finished update', update('UPDATE_COMPLETE'), false],
    ['a finished rollback, after the mail about its start', update('UPDATE_ROLLBACK_COMPLETE'), false],
    [
      'a rollback of another stack',
      update('UPDATE_ROLLBACK_IN_PROGRESS', 'arn:aws:cloudformation:a:1:stack/B/2'),
      false,
    ],
    ['a failed canary', deployment('FAILURE'), true],
    ['a canary that an alarm or somebody stopped', deployment('STOP'), true],
    ['a finished canary', deployment('SUCCESS'), false],
    ['a failed canary of another application', deployment('FAILURE', 'other'), false],
  ];
  const found = events.map(([what, event]) => [what, targetsOf(production, event)]);
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(events.map(([what, , isSent]) => [what, isSent ? ['${MonitoringNoticeTopic}'] : []])),
  );
  // A stage without canaries has no rule for their events.
  expect(targetsOf(staging, deployment('FAILURE'))).toEqual([]);
});

/** Returns the targets of the rules that match an event. */
function targetsOf(template: any, event: object): string[] {
  const rules = propertiesOf(template, 'AWS::Events::Rule');
  expect(rules).not.toEqual([]);
  return rules
    .filter(({ EventPattern, State = 'ENABLED' }) => State === 'ENABLED' && isMatch(EventPattern, event))
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
