import { Annotations, type App, CfnOutput, Stack } from 'aws-cdk-lib';
import { type Operation, operations } from '../../shared/contract/operations.ts';
import { Api } from './api.ts';
import { addDashboard } from './dashboard.ts';
import { shiftTraffic } from './deployment.ts';
import { addFirewall } from './firewall.ts';
import { addFunctions } from './functions.ts';
import { Monitoring } from './monitoring.ts';
import { checkSettings, type StageSettings } from '../settings.ts';
import { Storage } from './storage.ts';

/** Days before an operation's removal from which every synth warns. */
const SUNSET_WARNING_DAYS = 180;

export interface PetStoreStackProps {
  stage: string;
  settings: StageSettings;
  today?: Date;
}

/** Everything of one stage: its tables, its functions and its REST API, sharing nothing with other stages. */
export class PetStoreStack extends Stack {
  constructor(app: App, id: string, { stage, settings, today = new Date() }: PetStoreStackProps) {
    checkSettings(stage, settings);
    super(app, id, {
      description: `Pet store, stage ${stage}`,
      analyticsReporting: false,
      terminationProtection: settings.keepsData,
    });

    const monitoring = new Monitoring(this, 'Monitoring', stage, settings);
    const storage = new Storage(this, 'Storage', settings, monitoring);
    const functions = addFunctions(this, { stage, settings, storage, monitoring });
    const api = new Api(this, 'Api', { stage, settings, functions, monitoring });
    const { serverErrors } = api;
    if (settings.deploysByCanary) shiftTraffic(this, { stage, functions, monitoring, serverErrors });
    addDashboard(this, { stage, functions, storage, monitoring });
    addFirewall(this, api.stageArn, settings);
    warnOfSunsets(this, today);
    if (settings.keepsData && !settings.alarmEmail) {
      Annotations.of(this).addWarningV2(
        'pet-store:alarms-unheard',
        `Nobody is told of the alarms of ${stage}, unless somebody subscribed to the topic AlarmTopic: set alarmEmail in infra/stages.ts.`,
      );
    }

    const outputs = {
      BaseAddress: [api.baseAddress, 'Base address of the interface'],
      ApiKeysTable: [storage.apiKeys.tableName, 'Table into which API keys are issued'],
      AlarmTopic: [monitoring.topic.topicArn, 'Topic that alarms are sent to'],
    };
    for (const [name, [value = '', description = '']] of Object.entries(outputs))
      new CfnOutput(this, name, { value, description });
  }
}

function warnOfSunsets(stack: Stack, today: Date): void {
  for (const { id, deprecation } of Object.values<Operation>(operations)) {
    const daysLeft = deprecation && (deprecation.sunset.getTime() - today.getTime()) / 86_400_000;
    if (deprecation && daysLeft !== undefined && daysLeft <= SUNSET_WARNING_DAYS) {
      const date = deprecation.sunset.toISOString().slice(0, 10);
      Annotations.of(stack).addWarningV2(
        `pet-store:sunset:${id}`,
        `${id} is to be removed on ${date}: look at its use by key and remove it from shared/contract/operations.ts.`,
      );
    }
  }
}
