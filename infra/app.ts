import { App, type IPolicyValidationPlugin, Validations } from 'aws-cdk-lib';
import { stackName } from '../shared/names.ts';
import { AccountStack } from './stack/account.ts';
import { checkStages, SettingsError, stagesOf } from './settings.ts';
import { PetStoreStack } from './stack/stack.ts';
import { stages } from './stages.ts';
import { TemplateRules } from './stack/template-rules.ts';

// TemplateRules replaces the CDK's built-in validation.
const app = new App({ builtinCloudFormationValidation: false });
// The local service and the tests set this context to skip the checks, because they deploy nothing.
if (!app.node.tryGetContext('pet-store:unchecked')) {
  const { AwsSolutionsChecks } = await import('cdk-nag');
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new TemplateRules() as IPolicyValidationPlugin);
}

try {
  // The check runs before bundling, so no bundling output precedes its error message.
  checkStages(stages);

  const account = new AccountStack(app, stackName('account'));
  for (const [stage, settings] of Object.entries(stagesOf(stages, app.node.getAllContext()))) {
    const stack = new PetStoreStack(app, stackName(stage), { stage, settings });
    // The access log requires the role that the account stack creates.
    stack.addStackDependency(account);
  }
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exit(1);
}
