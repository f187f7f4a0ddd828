import type { Template } from './template.ts';

/** Returns whether the policies of a function's role allow an action on a resource. */
export type IsAllowed = (functionId: string, action: string, resourceArn: string) => boolean;

/** Returns a function that evaluates the IAM policies in a template. */
export function readPermissions(template: Template): IsAllowed {
  const policies = template.resources('AWS::IAM::Policy').map(({ properties }) => properties);
  const functions = template.resources('AWS::Lambda::Function');

  return (functionId, action, resourceArn) => {
    const caller = functions.find(({ logicalId }) => logicalId === functionId);
    if (!caller) return false;
    const roleId = caller.properties.Role.split('/').at(-1)!; // the end of the role's ARN
    return policies
      .filter(({ Roles }) => Roles.includes(roleId))
      .some(({ PolicyDocument }) => permits(PolicyDocument.Statement, action, resourceArn));
  };
}

/** Parts of an IAM statement that determine to which requests the statement applies. */
interface Scope {
  Action: string[];
  Resource: string[];
}

/** Returns whether any statement applies to the action and the resource, regardless of the statement's effect. */
export function permits(statements: Scope[], action: string, resourceArn: string): boolean {
  return statements.some(({ Action, Resource }) => matches(Action, action) && matches(Resource, resourceArn));
}

/** Returns whether one of a policy's patterns matches the text. In patterns, `*` matches any characters. */
function matches(patterns: string[], text: string): boolean {
  return patterns.some((pattern) => {
    const parts = pattern.split('*').map((part) => part.replaceAll(/\W/g, '\\$&'));
    return new RegExp(`^${parts.join('.*')}$`, 's').test(text);
  });
}
