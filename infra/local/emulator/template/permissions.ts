import type { Template } from './template.ts';

export type IsAllowed = ReturnType<typeof readPermissions>;

export function readPermissions(template: Template) {
  const policies = template.resources('AWS::IAM::Policy').map(({ properties }) => properties);
  const functions = template.resources('AWS::Lambda::Function');
  return (functionId: string, action: string, resourceArn: string): boolean => {
    const { Role = '' } = functions.find(({ logicalId }) => logicalId === functionId)?.properties ?? {};
    const attached = policies.filter(({ Roles }) => Roles.includes(Role.replace(/^.*\//, '')));
    return attached.some(({ PolicyDocument }) => permits(PolicyDocument.Statement, action, resourceArn));
  };
}

/** Returns whether any statement applies to the action and the resource, regardless of the statement's effect. */
export function permits(statements: Record<'Action' | 'Resource', string[]>[], action: string, arn: string) {
  return statements.some(({ Action, Resource }) => matches(Action, action) && matches(Resource, arn));
}

/** Returns whether one of a policy's patterns matches the text. In patterns, `*` matches any characters. */
function matches(patterns: string[], text: string): boolean {
  const expressions = patterns.map((pattern) => RegExp.escape(pattern).replaceAll(String.raw`\*`, '.*'));
  return expressions.some((expression) => new RegExp(`^${expression}$`, 's').test(text));
}
