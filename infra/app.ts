import * as cdk from 'aws-cdk-lib';
import { configuredRegion, requireRegion, runWithOptions, UsageError } from './command.ts';
import { bundleFunctions } from './stack/bundling.ts';
import { stagesOf } from './settings.ts';
import { addStacks } from './stack/stack.ts';
import { stages } from './stages.ts';

/** Stops synthesis if a template violates a CloudFormation rule. By default, most violations only cause a warning. */
class TemplateRules extends cdk.CloudFormationValidatePlugin {
  override validate(context: cdk.IPolicyValidationContext) {
    const { violations } = super.validate(context);
    return {
      success: violations.length === 0,
      violations: violations.map((violation) => ({ ...violation, severity: 'error' })),
    };
  }
}

// TemplateRules replaces the CDK's built-in validation, which is therefore turned off.
const app = new cdk.App({ builtinCloudFormationValidation: false });
// The local service and the tests set the context `unchecked` to skip the checks, because neither deploys a stack.
const isUnchecked = app.node.tryGetContext('unchecked');
if (!isUnchecked) {
  const { AwsSolutionsChecks } = await import('cdk-nag');
  cdk.Validations.of(app).addPlugins(
    new AwsSolutionsChecks(app),
    new TemplateRules() as cdk.IPolicyValidationPlugin,
  );
}

await runWithOptions('node infra/app.ts', {}, async () => {
  // The CDK CLI sets these variables. The account is only set if there are AWS credentials.
  const { CDK_DEFAULT_REGION, CDK_DEFAULT_ACCOUNT } = process.env;
  const region = requireRegion(CDK_DEFAULT_REGION);
  // Without a region, the CLI would silently deploy to us-east-1.
  if (CDK_DEFAULT_ACCOUNT && !configuredRegion())
    throw new UsageError('Set AWS_REGION to the region of the stage, such as eu-central-1 or us-east-1.');
  const checked = stagesOf(stages, app.node.getAllContext());
  addStacks(app, checked, await bundleFunctions(app.outdir));
  // The app prints the stack names, because the CDK does not print them if a command contains a wrong name.
  const names = app.node.children.filter((child) => cdk.Stack.isStack(child)).map(({ node }) => node.id);
  if (!isUnchecked) console.error(`Stacks in ${region}: ${names.join(', ')}`);
});
