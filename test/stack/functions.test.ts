import { expect, test } from '@jest/globals';
import { allSettings } from '../support/stages.ts';
import { ofEachFunction, readable, readableTemplate } from '../support/stack-template.ts';
import { variantTemplate } from './variants.ts';

// permissions.test.ts tests the roles of the functions, and constructs.test.ts that every operation needs a function.

const { Resources: production } = readableTemplate('production');
const { Resources: everySetting } = readable(await variantTemplate('everySetting'));

// A new AWS account allows so few concurrent executions that reserving some of them makes the deployment fail.
test('each function has a log of its own, the configured timeout, and no reserved concurrency', () => {
  const found = ofEachFunction((name) => {
    const { LoggingConfig, Timeout, ReservedConcurrentExecutions } = production[name].Properties;
    return [LoggingConfig.LogGroup, Timeout, ReservedConcurrentExecutions];
  });
  expect(found).toEqual(ofEachFunction((name) => [`\${${name}Logs}`, 10, undefined]));
});

test('Lambda logs a report of each invocation, and updates the runtime only with releases', () => {
  const found = ofEachFunction((name) => [
    production[name].Properties.LoggingConfig.SystemLogLevel,
    production[name].Properties.RuntimeManagementConfig,
    production[`${name}CurrentVersion`].Properties.RuntimePolicy,
  ]);
  const withReleases = { UpdateRuntimeOn: 'FunctionUpdate' };
  expect(found).toEqual(ofEachFunction(() => ['INFO', withReleases, withReleases]));
});

test('the functions of operations get the public URL, if the stage has one', () => {
  expect(publicUrlIn(everySetting)).toEqual(
    ofEachFunction((name) => (name === 'Authorizer' ? undefined : allSettings.publicUrl)),
  );
  expect(publicUrlIn(production)).toEqual(ofEachFunction(() => undefined));
});

test('only a stage with tracing records traces', () => {
  expect(tracingIn(everySetting)).toEqual(ofEachFunction(() => 'Active'));
  expect(everySetting.ApiRestApiDeploymentStageproduction.Properties.TracingEnabled).toBe(true);
  expect(tracingIn(production)).toEqual(ofEachFunction(() => undefined));
  expect(production.ApiRestApiDeploymentStageproduction.Properties.TracingEnabled).toBe(false);
  // Without this permission, a function cannot record a trace that a client asks for.
  expect(JSON.stringify(production)).not.toContain('xray:');
});

function publicUrlIn(resources: any): Record<string, unknown> {
  return ofEachFunction((name) => resources[name].Properties.Environment.Variables.PUBLIC_URL);
}

function tracingIn(resources: any): Record<string, unknown> {
  return ofEachFunction((name) => resources[name].Properties.TracingConfig?.Mode);
}
