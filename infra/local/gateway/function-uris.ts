import type { LambdaFunction } from '../lambda/lambda.ts';
import { requirePermission } from '../template/permissions.ts';
import { UsageError } from '../../operate/command.ts';
import type { Template } from '../template/template.ts';

/**
 * Finds functions by the URI that API Gateway invokes, which names a function or an alias of it.
 *
 * @throws UsageError from the returned function, if there is no such function or the caller may not invoke it.
 */
export function functionsByUri(
  template: Template,
  functions: Map<string, LambdaFunction>,
): (uri: string, callerArn: string) => LambdaFunction {
  const aliases = new Set(
    template
      .resources('AWS::Lambda::Alias')
      .map(({ properties }) => `${properties.FunctionName}:${properties.Name}`),
  );

  return (uri, callerArn) => {
    const arn = /\/functions\/(.+)\/invocations$/.exec(uri)?.[1] ?? '';
    const [name = '', alias] = arn.split(':').slice(6);
    const found = functions.get(name);
    if (!found || (alias !== undefined && !aliases.has(`${name}:${alias}`))) {
      throw new UsageError(`The template has an integration with an unknown function: ${uri}.`);
    }
    requirePermission(template, arn, callerArn);
    return found;
  };
}
