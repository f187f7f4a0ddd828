import { Aws } from 'aws-cdk-lib';
import * as events from 'aws-cdk-lib/aws-events';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { StageStack } from './stage-stack.ts';
import type { Tables } from './storage.ts';

/**
 * Services on which requests and alarms depend, by their names in AWS Health. Only `describe-event-types` lists these
 * names, and it needs a support plan. docs/runbook/undocumented.sh therefore asks operators to check them.
 * https://docs.aws.amazon.com/health/latest/APIReference/API_EventType.html
 */
const SERVICES = ['APIGATEWAY', 'CLOUDWATCH', 'DYNAMODB', 'LAMBDA', 'WAF'];

/**
 * Adds rules that send events of AWS services to the topic NoticeTopic. Most of these events have no metric for an alarm,
 * and an event, unlike a metric, says what failed.
 */
export function addEventRules(stack: StageStack, { ofCollections, apiKeys }: Tables): void {
  const scope = new Construct(stack, 'Events');
  const add = (id: string, description: string, eventPattern: object) =>
    new events.CfnRule(scope, id, {
      description,
      eventPattern,
      targets: [{ id: 'NoticeTopic', arn: stack.noticeTopic.topicArn }],
    });
  // The statement has no condition on the rule or the account, because EventBridge does not support conditions in the
  // policies of SNS topics. Rules of other accounts cannot use the statement, because they send with a role of their own.
  // https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-use-resource-based.html#eb-sns-permissions
  // https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-service-cross-account.html
  stack.noticeTopic.grantPublish(new iam.ServicePrincipal('events.amazonaws.com'));

  // The rule omits the status DELETE_FAILED, because a deletion of the stack can delete the rule before the deletion
  // fails. It also omits the end of a rollback, because its start has already caused a mail.
  // https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/event-detail-stack-status-change.html
  add('FailedUpdate', 'An update of the stack failed', {
    source: ['aws.cloudformation'],
    'detail-type': ['CloudFormation Stack Status Change'],
    detail: {
      'stack-id': [stack.stackId],
      'status-details': {
        status: ['UPDATE_FAILED', 'UPDATE_ROLLBACK_IN_PROGRESS', 'UPDATE_ROLLBACK_FAILED'],
      },
    },
  });
  // AWS Health sends to a region the events of this account and public events, including those of other regions for which
  // it is the backup. The pattern therefore names the region. It omits the category accountNotification, because that
  // category contains no problems or planned changes. Each stage of an account sends the same event to its own topic.
  // https://docs.aws.amazon.com/health/latest/ug/about-public-events.html
  // https://docs.aws.amazon.com/health/latest/ug/aws-health-events-eventbridge-schema.html
  add('ServiceHealth', 'AWS reports a problem or a planned change of a service that the stage uses', {
    source: ['aws.health'],
    'detail-type': ['AWS Health Event'],
    detail: {
      service: SERVICES,
      eventRegion: [Aws.REGION],
      eventTypeCategory: ['issue', 'scheduledChange'],
    },
  });
  if (!stack.stage.backup) return;
  // https://docs.aws.amazon.com/aws-backup/latest/devguide/eventbridge.html
  add('FailedBackup', 'A daily backup or its copy failed', {
    source: ['aws.backup'],
    'detail-type': ['Backup Job State Change', 'Copy Job State Change'],
    detail: {
      state: ['FAILED', 'ABORTED', 'EXPIRED', 'PARTIAL'],
      resourceArn: [...ofCollections.values(), apiKeys].map(({ tableArn }) => tableArn),
    },
  });
}
