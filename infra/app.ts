import { App, type IPolicyValidationPlugin, Validations } from 'aws-cdk-lib';
import { SettingsError } from './settings.ts';
import { addStacks } from './stack/stack.ts';
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
  addStacks(app, stages);
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exit(1);
}
