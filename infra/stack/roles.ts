import { Aws, Validations } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type { Construct, IConstruct } from 'constructs';

/** Returns the principal of an AWS service, such as `lambda`, restricted to requests on behalf of this account. */
export const principalOf = (service: string) =>
  new iam.ServicePrincipal(`${service}.amazonaws.com`, {
    // IfExists is needed because AWS does not document whether the services send this condition key.
    conditions: { StringEqualsIfExists: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
  });

type ManagedRole = Record<'service' | 'policy' | 'reason', string>;

/** Adds a role that only `service` can assume. `reason` says why the AWS managed policy `policy` is acceptable. */
export function addManagedRole(scope: Construct, id: string, { service, policy, reason }: ManagedRole) {
  const managedPolicies = [iam.ManagedPolicy.fromAwsManagedPolicyName(policy)];
  const role = new iam.Role(scope, id, { assumedBy: principalOf(service), managedPolicies });
  acknowledge(role, `IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${policy}]`, reason);
  return role;
}

/** Accepts a finding of cdk-nag, such as `IAM5[Resource::*]`. */
export function acknowledge(construct: IConstruct, finding: string, reason: string): void {
  Validations.of(construct).acknowledge({ id: `AwsSolutions::AwsSolutions-${finding}`, reason });
}
