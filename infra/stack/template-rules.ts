import { CloudFormationValidatePlugin, type IPolicyValidationContext } from 'aws-cdk-lib';

/** CloudFormation's rules for templates. Every violation stops synthesis. By default, the CDK only warns of most. */
export class TemplateRules extends CloudFormationValidatePlugin {
  override validate(context: IPolicyValidationContext) {
    const { violations } = super.validate(context);
    return {
      success: violations.length === 0,
      violations: violations.map((violation) => ({ ...violation, severity: 'error' })),
    };
  }
}
