import { CfnCondition, CfnParameter, Fn } from 'aws-cdk-lib';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { liveVersionParameter, RELEASED_PARAMETER } from '../../shared/names.ts';
import type { Functions } from './functions.ts';
import type { StageStack } from './stage-stack.ts';

/**
 * Adds parameters with which `npm run deploy` updates the stack while the aliases `live` still point to the old versions.
 * The command then shifts the requests itself, and sets `Released` at the end. If `Released` is `true`, which is the default
 * in a new stack, a deployment points the aliases to the new versions immediately. `npx cdk deploy` keeps the parameters'
 * last values.
 */
export function addReleaseParameters(stack: StageStack, functions: Functions): void {
  const released = new CfnParameter(stack, RELEASED_PARAMETER, {
    default: 'true',
    allowedValues: ['true', 'false'],
    description: 'Whether each alias live points to the new version of its function',
  });
  for (const [operation, fn] of Object.entries(functions)) {
    const version = new CfnParameter(stack, liveVersionParameter(operation), {
      default: '',
      allowedPattern: '\\d*',
      description: `Version of ${fn.node.id} to which live pointed before the deployment`,
    });
    const isHeld = new CfnCondition(stack, `Hold${fn.node.id}`, {
      expression: Fn.conditionAnd(
        Fn.conditionEquals(released, 'false'),
        Fn.conditionNot(Fn.conditionEquals(version, '')),
      ),
    });
    const alias = fn.live.node.defaultChild as lambda.CfnAlias;
    const newVersion = fn.currentVersion.version;
    // CloudFormation does not update a stack if parameters change but no resource does. The description of each alias
    // therefore contains the value of `Released`.
    alias.description = Fn.join(': ', [RELEASED_PARAMETER, released.valueAsString]);
    alias.functionVersion = Fn.conditionIf(isHeld.logicalId, version.valueAsString, newVersion).toString();
  }
}
