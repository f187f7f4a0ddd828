import { Annotations, type App, CfnOutput, Stack } from 'aws-cdk-lib';
import { type Operation, operations } from '../../shared/contract/operations.ts';
import { stackName } from '../../shared/names.ts';
import { AccountStack } from './account.ts';
import { Api } from './api.ts';
import { addDashboard } from './dashboard.ts';
import { addCanaryDeployments } from './deployment.ts';
import { addFirewall } from './firewall.ts';
import { addFunctions } from './functions.ts';
import { Monitoring } from './monitoring.ts';
import { type Stage, type StageSettings, stagesOf } from '../settings.ts';
import { Storage } from './storage.ts';

/** Synthesis prints a warning if an operation's removal is at most this many days away. */
const SUNSET_WARNING_DAYS = 180;

/**
 * Adds the account stack and the stacks of all stages, or of the on-demand stage that the app's context defines. The
 * settings are checked first, so no bundling output precedes the error message.
 *
 * @throws SettingsError if a stage or the context is invalid
 */
export function addStacks(app: App, stages: Record<string, StageSettings>, today = new Date()): void {
  const checked = stagesOf(stages, app.node.getAllContext());
  const account = new AccountStack(app, stackName('account'));
  for (const stage of checked) {
    const stack = new PetStoreStack(app, stage);
    addSunsetWarnings(stack, today);
    // The access log requires the role that the account stack creates.
    stack.addStackDependency(account);
  }
}

/** The tables, the functions and the REST API of one stage. No other stage uses these resources. */
class PetStoreStack extends Stack {
  constructor(app: App, stage: Stage) {
    super(app, stackName(stage.name), {
      description: `Pet store, stage ${stage.name}`,
      analyticsReporting: false,
      terminationProtection: stage.keepsData,
    });

    const monitoring = new Monitoring(this, 'Monitoring', stage);
    const storage = new Storage(this, 'Storage', stage, monitoring);
    const functions = addFunctions(this, stage, storage, monitoring);
    const api = new Api(this, 'Api', stage, functions, monitoring);
    if (stage.deploysByCanary) addCanaryDeployments(this, functions, monitoring, api.serverErrors);
    addDashboard(this, api, functions, storage, monitoring);
    addFirewall(this, stage, api.stageArn);

    new CfnOutput(this, 'BaseUrl', { value: api.baseUrl, description: 'Base URL of the API' });
    new CfnOutput(this, 'ApiKeysTable', { value: storage.apiKeys.tableName, description: 'API key table' });
    new CfnOutput(this, 'AlarmTopic', { value: monitoring.topic.topicArn, description: 'Alarm topic' });
  }
}

function addSunsetWarnings(stack: Stack, today: Date): void {
  for (const { id, deprecation } of Object.values<Operation>(operations)) {
    if (!deprecation) continue;
    const { sunset } = deprecation;
    if (sunset.getTime() - today.getTime() > SUNSET_WARNING_DAYS * 86_400_000) continue;
    Annotations.of(stack).addWarningV2(
      `pet-store:sunset:${id}`,
      `${id} is scheduled for removal on ${sunset.toISOString().slice(0, 10)}. Check which API keys still use it, then remove it from shared/contract/operations.ts.`,
    );
  }
}
