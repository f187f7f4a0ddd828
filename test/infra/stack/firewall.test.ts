import { describe, expect, test } from '@jest/globals';
import { stages } from '../../../infra/stages.ts';
import { propertiesOf, readableTemplate } from '../../support/stack-template.ts';

describe('the web ACL of production', () => {
  const template = readableTemplate('production');
  const [webAcl, ...others] = propertiesOf(template, 'AWS::WAFv2::WebACL');
  const { Rules: rules } = webAcl;
  const { requestsPerMinutePerAddress, requestsPerMinutePerKey } = stages.production.firewall;

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
  const perKey = { Header: { Name: 'Authorization', TextTransformations: normalized } };

  test('applies limits per address and key first, then AWS’s lists of bad addresses and bad inputs', () => {
    const limits = [
      { AggregateKeyType: 'IP', Limit: requestsPerMinutePerAddress },
      { AggregateKeyType: 'CUSTOM_KEYS', CustomKeys: [perKey], Limit: requestsPerMinutePerKey },
    ];
    expect(rules.map(({ Statement }: any) => Statement)).toEqual([
      ...limits.map((limit) => ({ RateBasedStatement: { ...limit, EvaluationWindowSec: 60 } })),
      { ManagedRuleGroupStatement: { VendorName: 'AWS', Name: 'AWSManagedRulesAmazonIpReputationList' } },
      { ManagedRuleGroupStatement: { VendorName: 'AWS', Name: 'AWSManagedRulesKnownBadInputsRuleSet' } },
    ]);
    expect(rules.map(({ Priority, Name }: any) => `${Priority} ${Name}`)).toEqual([
      '0 PerAddress',
      '1 PerKey',
      '2 AmazonIpReputationList',
      '3 KnownBadInputsRuleSet',
    ]);
  });

  // test/infra/documents/openapi/answers.test.ts compares the response of the one limit with openapi.json.
  test('responds alike beyond both limits, and blocks what a managed group blocks', () => {
    const [perAddress, { Action: block }, ...groups] = rules;
    expect(perAddress.Action).toEqual(block);
    const { ResponseHeaders } = block.Block.CustomResponse;
    expect(ResponseHeaders).toContainEqual({ Name: 'Retry-After', Value: '60' });
    for (const { Action, OverrideAction } of groups) {
      expect([Action, OverrideAction]).toEqual([undefined, { None: {} }]);
    }
  });

  // Samples and logs would hold the headers of requests, and with them API keys.
  test('counts what each rule blocks under a name of its own, and keeps nothing of requests', () => {
    const visibilities = [webAcl, ...rules].map(({ VisibilityConfig }) => VisibilityConfig);
    expect(visibilities).toEqual(
      ['Firewall', ...rules.map(({ Name }: any) => Name)].map((MetricName) => ({
        CloudWatchMetricsEnabled: true,
        MetricName,
        SampledRequestsEnabled: false,
      })),
    );
    expect(propertiesOf(template, 'AWS::WAFv2::LoggingConfiguration')).toEqual([]);
  });
});

test('staging, whose settings name no limits, has no web ACL', () => {
  expect(JSON.stringify(readableTemplate('staging'))).not.toContain('AWS::WAF');
});
