import { App } from 'aws-cdk-lib';
import { PetStoreStack } from './stack.ts';
import { type StageName, stages } from './stages.ts';

const app = new App();
for (const stage of Object.keys(stages) as StageName[]) {
  new PetStoreStack(app, `PetStore-${stage}`, { stage, settings: stages[stage] });
}
