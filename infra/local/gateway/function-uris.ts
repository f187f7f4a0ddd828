import type { LambdaFunction } from '../lambda/lambda.ts';
import { requirePermission } from '../template/permissions.ts';
import { RunnerError } from '../runner-error.ts';
import type { Template } from '../template/template.ts';

/** Gives the function that an integration or authorizer names, for a caller with this ARN. */
export type FunctionOf = (uri: string, callerArn: string) => LambdaFunction;

/**
 * The functions of the template by the URI that API Gateway calls them with: of a function, or of an alias of it,
 * which here is always the code that was synthesized.
 *
 * @throws RunnerError, when asked, for a function that there is not or that the caller may not invoke.
 */
export function functionsByUri(template: Template, functions: Map<string, LambdaFunction>): FunctionOf {
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
      throw new RunnerError(`The template has an integration with an unknown function: ${uri}.`);
    }
    requirePermission(template, arn, callerArn);
    return found;
  };
}
