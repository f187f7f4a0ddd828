import type { Template } from './template.ts';

export type IsAllowed = ReturnType<typeof readPermissions>;

export function readPermissions(template: Template) {
  const policies = template.resources('AWS::IAM::Policy').map(({ properties }) => properties);
  const functions = template.resources('AWS::Lambda::Function');
  return (functionId: string, action: string, resourceArn: string): boolean => {
    const role = functions.find(({ logicalId }) => logicalId === functionId)?.properties.Role.split('/')[1];
    const attached = policies.filter(({ Roles }) => role && Roles.includes(role));
    return attached.some(({ PolicyDocument }) => permits(PolicyDocument.Statement, action, resourceArn));
  };
}

/** Returns whether a statement allows the action on the resource. All statements must have the effect Allow. */
export function permits(statements: Record<'Action' | 'Resource', string[]>[], action: string, arn: string) {
  return statements.some(
    ({ Action, Resource }) =>
      Action.some((pattern) => matchesArn(pattern, action)) &&
      Resource.some((pattern) => matchesArn(pattern, arn)),
  );
}

/** Returns whether an ARN or an action matches a policy's pattern. In the pattern, `*` matches any characters. */
export function matchesArn(pattern: string, arn: string): boolean {
  const expression = RegExp.escape(pattern).replaceAll(String.raw`\*`, '.*');
  return new RegExp(`^${expression}$`, 's').test(arn);
}
