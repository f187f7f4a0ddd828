import { type App, CfnOutput, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as iam from 'aws-cdk-lib/aws-iam';
import { productName, serviceTag, stackName } from '../../shared/names.ts';
import { addAnnotations } from './annotations.ts';
import { addApi } from './api.ts';
import type { Bundles } from './bundling.ts';
import { addCanary } from './canary.ts';
import { addDashboard } from './dashboard.ts';
import { addEventRules } from './event-rules.ts';
import { addFirewall, addFirewallLog } from './firewall.ts';
import { addFunctions } from './functions.ts';
import { addQueries } from './queries.ts';
import { acknowledge, principalOf } from './roles.ts';
import type { Stage } from '../settings.ts';
import { StageStack } from './stage-stack.ts';
import { addTables } from './storage.ts';

/** Adds the account stack and the stacks of the stages. `bundles` is the result of `bundleFunctions`. */
export function addStacks(app: App, stages: Stage[], bundles: Bundles, today = new Date()): void {
  const account = addAccountStack(app);
  for (const stage of stages) {
    const stack = new StageStack(app, stage);
    const tables = addTables(stack);
    const functions = addFunctions(stack, bundles, tables);
    const api = addApi(stack, functions);
    const firewallLog = addFirewallLog(stack);
    addFirewall(stack, api.stageArn, firewallLog);
    const canary = stage.canaryDeployments ? addCanary(stack, functions) : undefined;
    addDashboard(stack, api, functions, tables);
    addEventRules(stack, canary);
    addQueries(stack, functions, { accessLog: api.accessLog, firewallLog });
    new CfnOutput(stack, 'BaseUrl', { value: api.baseUrl, description: 'Base URL of the API' });
    if (stage.publicUrl !== undefined)
      new CfnOutput(stack, 'PublicUrl', {
        value: stage.publicUrl,
        description: 'Start of the URLs in responses',
      });
    new CfnOutput(stack, 'ApiKeysTable', { value: tables.apiKeys.tableName, description: 'API key table' });
    const { alarmTopic, noticeTopic } = stack;
    new CfnOutput(stack, 'AlarmTopic', {
      value: alarmTopic.topicArn,
      description: 'Topic of the alarms that must wake somebody',
    });
    new CfnOutput(stack, 'NoticeTopic', {
      value: noticeTopic.topicArn,
      description: 'Topic of the alarms and events that can wait',
    });
    addAnnotations(stack, today);
    // The access log requires the role that the account stack creates.
    stack.addStackDependency(account);
  }
}

/**
 * Adds the stack with API Gateway's role for the logs of all stages. The stages share this stack, because an account has
 * only one such role in each region.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html
 */
function addAccountStack(app: App): Stack {
  const stack = new Stack(app, stackName('account'), {
    description: `Resources that all ${productName.toLowerCase()} stages in this account and region share`,
    analyticsReporting: false,
    tags: { service: serviceTag },
  });
  const policy = 'service-role/AmazonAPIGatewayPushToCloudWatchLogs';
  const role = new iam.Role(stack, 'LogRole', {
    assumedBy: principalOf('apigateway'),
    managedPolicies: [iam.ManagedPolicy.fromAwsManagedPolicyName(policy)],
  });
  acknowledge(
    role,
    `IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${policy}]`,
    'API Gateway needs a role that can write to all log groups. The policy allows only actions on logs.',
  );
  const account = new apigateway.CfnAccount(stack, 'ApiGatewayAccount', { cloudWatchRoleArn: role.roleArn });
  // In an account that has never used API Gateway, another of its resources must exist first.
  // https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-apigateway-account.html
  const firstApi = new apigateway.CfnRestApi(stack, 'FirstApi', {
    name: stackName('account'),
    description: 'Serves no requests. API Gateway needs an API before it accepts the logging role.',
  });
  acknowledge(firstApi, 'APIG2', 'The API has no methods.');
  account.addResourceDependency(firstApi);
  for (const resource of [role, account]) resource.applyRemovalPolicy(RemovalPolicy.RETAIN);
  return stack;
}
