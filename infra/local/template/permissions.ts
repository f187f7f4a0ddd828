import type { Template } from './template.ts';

/** Whether a function, named by its logical id, may do this to the resource with this ARN. */
export type IsAllowed = (functionId: string, action: string, resourceArn: string) => boolean;

export function readPermissions(template: Template): IsAllowed {
  const policies = template.resources('AWS::IAM::Policy');
  const statementsByFunction = new Map(
    template.resources('AWS::Lambda::Function').map(({ logicalId, properties }) => {
      const role = properties.Role.slice(properties.Role.lastIndexOf('/') + 1);
      const own = policies.filter((policy) => policy.properties.Roles.includes(role));
      return [logicalId, own.flatMap((policy) => policy.properties.PolicyDocument.Statement)];
    }),
  );
  return (functionId, action, resourceArn) =>
    permits(statementsByFunction.get(functionId) ?? [], action, resourceArn);
}

/** Whether any of the statements, all of which allow something, allows this. */
export function permits(
  statements: { Action: string[]; Resource: string[] }[],
  action: string,
  resourceArn: string,
): boolean {
  return statements.some(
    ({ Action, Resource }) => Action.includes(action) && Resource.some((arn) => matchesArn(arn, resourceArn)),
  );
}

/** Whether an ARN matches a pattern of a policy, in which `*` stands for any characters. */
export function matchesArn(pattern: string, arn: string): boolean {
  const expression = RegExp.escape(pattern).replaceAll(String.raw`\*`, '.*');
  return new RegExp(`^${expression}$`, 's').test(arn);
}
