import {
  App,
  CloudFormationValidatePlugin,
  type IPolicyValidationContext,
  type IPolicyValidationPlugin,
  Validations,
} from 'aws-cdk-lib';
import { join } from 'node:path';
import { runWithOptions } from './command.ts';
import { bundleFunctions, writeBundles } from './stack/bundling.ts';
import { addStacks } from './stack/stack.ts';
import { stages } from './stages.ts';

/** Stops synthesis if a template violates a CloudFormation rule. By default, most violations only cause a warning. */
class TemplateRules extends CloudFormationValidatePlugin {
  override validate(context: IPolicyValidationContext) {
    const { violations } = super.validate(context);
    return {
      success: violations.length === 0,
      violations: violations.map((violation) => ({ ...violation, severity: 'error' })),
    };
  }
}

// TemplateRules replaces the CDK's built-in validation.
const app = new App({ builtinCloudFormationValidation: false });
// The local service and the tests set this context to skip the checks, because they deploy nothing.
if (!app.node.tryGetContext('pet-store:unchecked')) {
  const { AwsSolutionsChecks } = await import('cdk-nag');
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new TemplateRules() as IPolicyValidationPlugin);
}

await runWithOptions('node infra/app.ts', {}, async () => {
  const bundles = join(app.outdir, 'bundles');
  writeBundles(await bundleFunctions(bundles));
  addStacks(app, stages, bundles);
});
