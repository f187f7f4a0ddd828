import { CloudFormationValidatePlugin, type IPolicyValidationContext } from 'aws-cdk-lib';

/** Stops synthesis if a template violates a CloudFormation rule. By default, most violations only cause a warning. */
export class TemplateRules extends CloudFormationValidatePlugin {
  override validate(context: IPolicyValidationContext) {
    const { violations } = super.validate(context);
    return {
      success: violations.length === 0,
      violations: violations.map((violation) => ({ ...violation, severity: 'error' })),
    };
  }
}
