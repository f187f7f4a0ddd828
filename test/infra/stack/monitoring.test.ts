import { describe, expect, test } from '@jest/globals';
import { propertiesOf, readableTemplate, resourcesOf, stageNames } from '../../support/stack-template.ts';

describe.each(stageNames)('the alarms of %s', (stage) => {
  const template = readableTemplate(stage);
  const alarms = resourcesOf(template, 'AWS::CloudWatch::Alarm');

  test.each(alarms)('%s notifies the topic of each change between OK and ALARM', (_name, alarm) => {
    expect(alarm.Properties).toMatchObject({
      AlarmDescription: expect.stringMatching(/^[A-Z][^"]+\. See docs\/runbook\.md, "[^"]+"\.$/),
      AlarmActions: ['${MonitoringAlarmTopic}'],
      OKActions: ['${MonitoringAlarmTopic}'],
      TreatMissingData: 'notBreaching',
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    });
    expect(alarm.Properties['ActionsEnabled'] ?? true).toBe(true);
  });
});

test.each(stageNames)('the alarm topic of %s accepts only alarms in this account and region', (stage) => {
  const template = readableTemplate(stage);
  expect(propertiesOf(template, 'AWS::SNS::Topic')).toHaveLength(1);
  const publish = { Sid: expect.any(String), Action: 'sns:Publish', Resource: '${MonitoringAlarmTopic}' };
  const alarmArns = 'arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:*';
  expect(propertiesOf(template, 'AWS::SNS::TopicPolicy')).toMatchObject([
    {
      Topics: ['${MonitoringAlarmTopic}'],
      PolicyDocument: {
        Statement: [
          {
            ...publish,
            Effect: 'Deny',
            Principal: '*',
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          },
          {
            ...publish,
            Effect: 'Allow',
            Principal: { Service: 'cloudwatch.amazonaws.com' },
            Condition: {
              ArnLike: { 'aws:SourceArn': alarmArns },
              StringEquals: { 'aws:SourceAccount': '${AWS::AccountId}' },
            },
          },
        ],
      },
    },
  ]);
});
