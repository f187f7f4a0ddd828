import { describe, expect, test } from '@jest/globals';
import {
  propertiesOf,
  readable,
  readableTemplate,
  resourcesOf,
  type StackTemplate,
  stackTemplate,
} from '../support/stack-template.ts';
import { allSettings } from '../support/stages.ts';
import { variantTemplate } from './variants.ts';

const drill = await variantTemplate('drill');

describe('every log', () => {
  test('of production is kept for the configured time, and outlives the stack', () => {
    expect(logsIn(stackTemplate('production'))).toEqual(new Set(['365 RetainExceptOnCreate Retain']));
  });

  test('of staging is kept for the configured time, and deleted with the stack', () => {
    expect(logsIn(stackTemplate('staging'))).toEqual(new Set(['14 Delete Delete']));
  });
});

// A drill of a restore leaves nothing behind, although it has production's other settings.
test('a stage without retainData retains no data and no protection, whatever its other settings are', () => {
  expect(JSON.stringify(drill)).not.toMatch(/production|staging|"DeletionProtectionEnabled":true/);
  const retained = Object.entries<any>(drill.Resources).filter(([, one]) =>
    /Retain/.test(one.DeletionPolicy),
  );
  const types = new Set(retained.map(([, { Type }]) => Type));
  expect(types).toEqual(new Set(['AWS::Lambda::Version']));
});

test('only the configured email address subscribes to the topics', async () => {
  const topics = ['${MonitoringAlarmTopic}', '${MonitoringNoticeTopic}'];
  const everySetting = readable(await variantTemplate('everySetting'));
  expect(propertiesOf(everySetting, 'AWS::SNS::Subscription')).toEqual(
    topics.map((TopicArn) => ({ Protocol: 'email', Endpoint: allSettings.alarmEmail, TopicArn })),
  );
  expect(propertiesOf(readableTemplate('production'), 'AWS::SNS::Subscription')).toEqual([]);
});

/** Returns the retention time, the deletion policy and the update policy of the logs. */
function logsIn(template: StackTemplate): Set<string> {
  const logs = resourcesOf(template, 'AWS::Logs::LogGroup').map(([, { Properties, ...policies }]: any) =>
    [Properties.RetentionInDays, policies.DeletionPolicy, policies.UpdateReplacePolicy].join(' '),
  );
  return new Set(logs);
}
