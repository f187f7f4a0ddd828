import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { AccountStack } from './account.ts';
import { SettingsError } from './settings.ts';
import { PetStoreStack } from './stack.ts';
import { type StageName, stages } from './stages.ts';

const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));

try {
  const account = new AccountStack(app, 'PetStore-account');
  for (const stage of Object.keys(stages) as StageName[]) {
    const stack = new PetStoreStack(app, `PetStore-${stage}`, { stage, settings: stages[stage] });
    // API Gateway writes the access log under the account's role.
    stack.addStackDependency(account);
  }
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exit(1);
}
