import { Annotations, type App, CfnOutput, Stack } from 'aws-cdk-lib';
import { type Operation, operations } from '../shared/operations.ts';
import { Api } from './api.ts';
import { createFunctions } from './functions.ts';
import type { StageSettings } from './stages.ts';
import { Storage } from './storage.ts';

/** Days before an operation's removal from which every synth warns. */
const SUNSET_WARNING_DAYS = 180;

export interface PetStoreStackProps {
  stage: string;
  settings: StageSettings;
  /** @default - today */
  today?: Date;
}

/** Everything of one stage: its tables, its functions and its REST API, sharing nothing with other stages. */
export class PetStoreStack extends Stack {
  constructor(app: App, id: string, { stage, settings, today = new Date() }: PetStoreStackProps) {
    super(app, id, { description: `Pet store, stage ${stage}`, analyticsReporting: false });

    const storage = new Storage(this, 'Storage', settings);
    const functions = createFunctions(this, { stage, settings, storage });
    const api = new Api(this, 'Api', { stage, settings, functions });
    warnOfSunsets(this, today);

    new CfnOutput(this, 'BaseAddress', {
      value: api.baseAddress,
      description: 'Base address of the interface',
    });
    new CfnOutput(this, 'ApiKeysTable', {
      value: storage.apiKeys.tableName,
      description: 'Table into which API keys are issued',
    });
  }
}

function warnOfSunsets(stack: Stack, today: Date): void {
  for (const { id, deprecation } of Object.values<Operation>(operations)) {
    const daysLeft = deprecation && (deprecation.sunset.getTime() - today.getTime()) / 86_400_000;
    if (deprecation && daysLeft !== undefined && daysLeft <= SUNSET_WARNING_DAYS) {
      const date = deprecation.sunset.toISOString().slice(0, 10);
      Annotations.of(stack).addWarningV2(
        `pet-store:sunset:${id}`,
        `${id} is to be removed on ${date}: look at its use by key and remove it from shared/operations.ts.`,
      );
    }
  }
}
