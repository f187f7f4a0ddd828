import { describe, expect, test } from '@jest/globals';
import { stages } from '../../../infra/stages.ts';
import { contract } from '../../support/contract.ts';
import { propertiesOf, readableTemplate } from '../../support/stack-template.ts';

describe('the web ACL of production', () => {
  const template = readableTemplate('production');
  const [webAcl, ...others] = propertiesOf(template, 'AWS::WAFv2::WebACL');
  const { Rules: rules } = webAcl;
  const { requestsPerMinutePerIp, requestsPerMinutePerKey } = stages.production.firewall;

  test('is the only one, protects the stage of the API, and allows what no rule blocks', () => {
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

  // The authorizer accepts any number of spaces after `Bearer` in any case, which would make a client look like many.
  const normalized = [
    { Priority: 0, Type: 'COMPRESS_WHITE_SPACE' },
    { Priority: 1, Type: 'LOWERCASE' },
  ];
  const perKey = { Header: { Name: 'authorization', TextTransformations: normalized } };

  // A rule counts only what no rule before it blocked, and a large body is a 413 whatever is in it.
  test('applies limits per address and key, then that of bodies, then AWS’s lists of bad addresses and inputs', () => {
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

  // test/infra/documents/openapi/answers.test.ts compares the response of the one limit with openapi.json.
  test('responds alike beyond both limits, and blocks what a managed group blocks', () => {
    const [perIp, { Action: block }, _largeBody, ...groups] = rules;
    expect(perIp.Action).toEqual(block);
    const { ResponseHeaders } = block.Block.CustomResponse;
    expect(ResponseHeaders).toContainEqual({ Name: 'Retry-After', Value: '60' });
    for (const { Action, OverrideAction } of groups) {
      expect([Action, OverrideAction]).toEqual([undefined, { None: {} }]);
    }
  });

  // WAF gets no more of a body than the inspection limit, so a larger one has no size of its own.
  test.each([65_536, 65_537])('blocks a body of %d bytes only if the functions would', (bytes) => {
    const { FieldToMatch, ...constraint } = rules[2].Statement.SizeConstraintStatement;
    const none = [{ Priority: 0, Type: 'NONE' }];
    expect(constraint).toEqual({ ComparisonOperator: 'GT', Size: 65_536, TextTransformations: none });
    const { DefaultSizeInspectionLimit: limit } = webAcl.AssociationConfig.RequestBody.API_GATEWAY;
    const isInspected = bytes <= Number(limit.replace('KB_', '')) * 1_024;
    const isBlocked = isInspected ? bytes > constraint.Size : FieldToMatch.Body.OversizeHandling === 'MATCH';
    expect(isBlocked).toBe(bytes > 65_536);
  });

  test('responds to a large body as the function does', () => {
    const { ResponseHeaders, ...response } = rules[2].Action.Block.CustomResponse;
    expect(response).toEqual({ ResponseCode: 413, CustomResponseBodyKey: 'request_too_large' });
    expect(ResponseHeaders).toEqual([{ Name: 'Cache-Control', Value: 'no-store' }]);
    const { Content } = webAcl.CustomResponseBodies.request_too_large;
    expect(JSON.parse(Content)).toEqual(contract().responses.get('createPet 413')!.example);
  });

  // Samples would hold the headers of requests, and with them API keys.
  test('counts what each rule blocks under a name of its own, and keeps no samples', () => {
    for (const { Name = 'Firewall', VisibilityConfig } of [webAcl, ...rules]) {
      expect(VisibilityConfig).toEqual({
        CloudWatchMetricsEnabled: true,
        MetricName: Name,
        SampledRequestsEnabled: false,
      });
    }
  });

  test('logs the requests that it blocks, and nothing else', () => {
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

  // A line has the headers of its request, and again what a rule counts by, unless data protection excludes that.
  test('keeps API keys out of the log', () => {
    const [{ RedactedFields }] = propertiesOf(template, 'AWS::WAFv2::LoggingConfiguration');
    expect(RedactedFields).toEqual([{ SingleHeader: { Name: 'authorization' } }]);
    expect(webAcl.DataProtectionConfig.DataProtections).toEqual([
      { Action: 'SUBSTITUTION', Field: { FieldType: 'SINGLE_HEADER', FieldKeys: ['authorization'] } },
    ]);
  });
});

test('staging, whose settings name no limits, has no web ACL', () => {
  expect(JSON.stringify(readableTemplate('staging'))).not.toContain('AWS::WAF');
});
