import { Aws, Validations } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type { IConstruct } from 'constructs';

/** Returns the principal of an AWS service, such as `lambda`, restricted to requests on behalf of this account. */
export const principalOf = (service: string) =>
  new iam.ServicePrincipal(`${service}.amazonaws.com`, {
    // IfExists is needed because AWS does not document whether the services send this condition key.
    conditions: { StringEqualsIfExists: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
  });

/** Accepts a finding of cdk-nag, such as `IAM5[Resource::*]`. */
export function acknowledge(construct: IConstruct, finding: string, reason: string): void {
  Validations.of(construct).acknowledge({ id: `AwsSolutions::AwsSolutions-${finding}`, reason });
}
