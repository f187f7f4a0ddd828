import { App, type IPolicyValidationPlugin, Validations } from 'aws-cdk-lib';
import { stackName } from '../shared/names.ts';
import { AccountStack } from './stack/account.ts';
import { checkStages, SettingsError, stagesOf } from './settings.ts';
import { PetStoreStack } from './stack/stack.ts';
import { stages } from './stages.ts';
import { TemplateRules } from './stack/template-rules.ts';

// TemplateRules takes the place of the built-in validation.
const app = new App({ builtinCloudFormationValidation: false });
// For what is not deployed: the local service and tests.
if (!app.node.tryGetContext('pet-store:unchecked')) {
  const { AwsSolutionsChecks } = await import('cdk-nag');
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new TemplateRules() as IPolicyValidationPlugin);
}

try {
  // Before the first bundle is made: a sentence is not to stand below its output.
  checkStages(stages);

  const account = new AccountStack(app, stackName('account'));
  for (const [stage, settings] of Object.entries(stagesOf(stages, app.node.getAllContext()))) {
    const stack = new PetStoreStack(app, stackName(stage), { stage, settings });
    // API Gateway writes the access log under the account's role.
    stack.addStackDependency(account);
  }
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exit(1);
}
