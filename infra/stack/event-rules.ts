import type * as codedeploy from 'aws-cdk-lib/aws-codedeploy';
import * as events from 'aws-cdk-lib/aws-events';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { StageStack } from './stage-stack.ts';

/**
 * Adds rules that send events of failed stack updates and deployments to the topic NoticeTopic. An event, unlike an alarm,
 * says what failed.
 *
 * @param canary CodeDeploy's application @default - the stage has no canary deployments
 */
export function addEventRules(stack: StageStack, canary?: codedeploy.ILambdaApplication): void {
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
  if (!canary) return;
  // https://docs.aws.amazon.com/codedeploy/latest/userguide/monitoring-cloudwatch-events.html
  add('FailedDeployment', 'A new version of a function was rolled back', {
    source: ['aws.codedeploy'],
    'detail-type': ['CodeDeploy Deployment State-change Notification'],
    detail: { application: [canary.applicationName], state: ['FAILURE', 'STOP'] },
  });
}
