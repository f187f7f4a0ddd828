import { CloudFormationValidatePlugin, type IPolicyValidationContext } from 'aws-cdk-lib';

/** CloudFormation's rules for templates. Any breach stops the synth; the CDK by itself would warn of most. */
export class TemplateRules extends CloudFormationValidatePlugin {
  override validate(context: IPolicyValidationContext) {
    const { violations } = super.validate(context);
    return {
      success: violations.length === 0,
      violations: violations.map((violation) => ({ ...violation, severity: 'error' })),
    };
  }
}
