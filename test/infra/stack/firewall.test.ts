import { describe, expect, test } from '@jest/globals';
import { stages } from '../../../infra/stages.ts';
import { contract } from '../../support/contract.ts';
import { propertiesOf, readableTemplate } from '../../support/stack-template.ts';

describe('the web ACL of production', () => {
  const template = readableTemplate('production');
  const [webAcl, ...others] = propertiesOf(template, 'AWS::WAFv2::WebACL');
  const { Rules: rules } = webAcl;
  const { requestsPerMinutePerIp, requestsPerMinutePerKey } = stages.production.firewall;

  test('protects the API stage and allows requests that no rule blocks', () => {
    expect(others).toEqual([]);
    expect(webAcl).toMatchObject({ Scope: 'REGIONAL', DefaultAction: { Allow: {} } });
    expect(propertiesOf(template, 'AWS::WAFv2::WebACLAssociation')).toEqual([
      {
        ResourceArn:
          'arn:${AWS::Partition}:apigateway:${AWS::Region}::/restapis/${ApiRestApi}/stages/${ApiRestApiDeploymentStageproduction}',
        WebACLArn: '${Firewall.Arn}',
      },
    ]);
  });

  // The authorizer accepts `Bearer` in any case and with any number of spaces. Without normalization, a client could
  // circumvent the limit with variants of the header.
  const normalized = [
    { Priority: 0, Type: 'COMPRESS_WHITE_SPACE' },
    { Priority: 1, Type: 'LOWERCASE' },
  ];
  const perKey = { Header: { Name: 'authorization', TextTransformations: normalized } };

  test('applies its own limits before AWS’s managed rules', () => {
    const limits = [
      { AggregateKeyType: 'IP', Limit: requestsPerMinutePerIp },
      { AggregateKeyType: 'CUSTOM_KEYS', CustomKeys: [perKey], Limit: requestsPerMinutePerKey },
    ];
    expect(rules.map(({ Statement }: any) => Statement)).toEqual([
      ...limits.map((limit) => ({ RateBasedStatement: { ...limit, EvaluationWindowSec: 60 } })),
      { SizeConstraintStatement: expect.anything() },
      { ManagedRuleGroupStatement: { VendorName: 'AWS', Name: 'AWSManagedRulesAmazonIpReputationList' } },
      { ManagedRuleGroupStatement: { VendorName: 'AWS', Name: 'AWSManagedRulesKnownBadInputsRuleSet' } },
    ]);
    expect(rules.map(({ Priority, Name }: any) => `${Priority} ${Name}`)).toEqual([
      '0 PerIp',
      '1 PerKey',
      '2 LargeBody',
      '3 AmazonIpReputationList',
      '4 KnownBadInputsRuleSet',
    ]);
  });

  test('returns the same response for both request limits', () => {
    const [perIp, { Action: block }, _largeBody, ...groups] = rules;
    expect(perIp.Action).toEqual(block);
    const { ResponseHeaders } = block.Block.CustomResponse;
    expect(ResponseHeaders).toContainEqual({ Name: 'Retry-After', Value: '60' });
    for (const { Action, OverrideAction } of groups) {
      expect([Action, OverrideAction]).toEqual([undefined, { None: {} }]);
    }
  });

  // WAF gets only the start of a body above the inspection limit, so WAF cannot measure the body.
  test.each([65_536, 65_537])('blocks a body of %d bytes only if the functions would reject it', (bytes) => {
    const { FieldToMatch, ...constraint } = rules[2].Statement.SizeConstraintStatement;
    const none = [{ Priority: 0, Type: 'NONE' }];
    expect(constraint).toEqual({ ComparisonOperator: 'GT', Size: 65_536, TextTransformations: none });
    const { DefaultSizeInspectionLimit: limit } = webAcl.AssociationConfig.RequestBody.API_GATEWAY;
    const isInspected = bytes <= Number(limit.replace('KB_', '')) * 1_024;
    const isBlocked = isInspected ? bytes > constraint.Size : FieldToMatch.Body.OversizeHandling === 'MATCH';
    expect(isBlocked).toBe(bytes > 65_536);
  });

  test('returns the same response to a large body as the createPet function', () => {
    const { ResponseHeaders, ...response } = rules[2].Action.Block.CustomResponse;
    expect(response).toEqual({ ResponseCode: 413, CustomResponseBodyKey: 'request_too_large' });
    expect(ResponseHeaders).toEqual([{ Name: 'Cache-Control', Value: 'no-store' }]);
    const { Content } = webAcl.CustomResponseBodies.request_too_large;
    expect(JSON.parse(Content)).toEqual(contract().responses.get('createPet 413')!.example);
  });

  test('has a metric but no sampling for each rule', () => {
    for (const { Name = 'Firewall', VisibilityConfig } of [webAcl, ...rules]) {
      expect(VisibilityConfig).toEqual({
        CloudWatchMetricsEnabled: true,
        MetricName: Name,
        SampledRequestsEnabled: false,
      });
    }
  });

  test('logs only blocked requests', () => {
    expect(template.Resources.FirewallLog.Properties.LogGroupName).toBe('aws-waf-logs-${AWS::StackId}');
    expect(propertiesOf(template, 'AWS::WAFv2::LoggingConfiguration')).toMatchObject([
      {
        ResourceArn: '${Firewall.Arn}',
        LogDestinationConfigs: [
          'arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}:log-group:${FirewallLog}',
        ],
        LoggingFilter: {
          DefaultBehavior: 'DROP',
          Filters: [{ Behavior: 'KEEP', Conditions: [{ ActionCondition: { Action: 'BLOCK' } }] }],
        },
      },
    ]);
  });

  // A log entry contains request headers. Without data protection, the entry also lists the keys that a limit counts.
  test('keeps API keys out of the log', () => {
    const [{ RedactedFields }] = propertiesOf(template, 'AWS::WAFv2::LoggingConfiguration');
    expect(RedactedFields).toEqual([{ SingleHeader: { Name: 'authorization' } }]);
    expect(webAcl.DataProtectionConfig.DataProtections).toEqual([
      { Action: 'SUBSTITUTION', Field: { FieldType: 'SINGLE_HEADER', FieldKeys: ['authorization'] } },
    ]);
  });
});

test('staging has no web ACL', () => {
  expect(JSON.stringify(readableTemplate('staging'))).not.toContain('AWS::WAF');
});
