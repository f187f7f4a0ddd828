import { describe, expect, test } from '@jest/globals';
import { stages } from '../../../infra/stages.ts';
import { propertiesOf, readableTemplate } from '../../support/stack-template.ts';

describe('the web ACL of production', () => {
  const template = readableTemplate('production');
  const [webAcl, ...others] = propertiesOf(template, 'AWS::WAFv2::WebACL');
  const { Rules: rules, CustomResponseBodies: bodies } = webAcl;
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

  test('applies limits first, then AWS’s lists of bad addresses and bad inputs', () => {
    expect(rules.map(({ Priority, Name }: any) => [Priority, Name])).toEqual([
      [0, 'PerAddress'],
      [1, 'PerKey'],
      [2, 'AmazonIpReputationList'],
      [3, 'KnownBadInputsRuleSet'],
    ]);
  });

  // The authorizer accepts any number of spaces after `Bearer` in any case, which would make a client look like many.
  const normalized = [
    { Priority: 0, Type: 'COMPRESS_WHITE_SPACE' },
    { Priority: 1, Type: 'LOWERCASE' },
  ];
  test.each([
    ['address', 0, { AggregateKeyType: 'IP', Limit: requestsPerMinutePerAddress }],
    [
      'API key, however the header is spelled',
      1,
      {
        AggregateKeyType: 'CUSTOM_KEYS',
        CustomKeys: [{ Header: { Name: 'Authorization', TextTransformations: normalized } }],
        Limit: requestsPerMinutePerKey,
      },
    ],
  ])('responds 429 with the Error body beyond a limit per %s', (_what, index, counted) => {
    const { Statement, Action, OverrideAction } = rules[index];
    expect(Statement).toEqual({ RateBasedStatement: { ...counted, EvaluationWindowSec: 60 } });
    expect(OverrideAction).toBeUndefined();
    expect(Action).toEqual({
      Block: {
        CustomResponse: {
          ResponseCode: 429,
          CustomResponseBodyKey: expect.any(String),
          ResponseHeaders: [
            { Name: 'Retry-After', Value: '60' },
            { Name: 'Cache-Control', Value: 'no-store' },
          ],
        },
      },
    });
    const { Content, ContentType } = bodies[Action.Block.CustomResponse.CustomResponseBodyKey];
    expect(ContentType).toBe('APPLICATION_JSON');
    expect(JSON.parse(Content)).toEqual({
      code: 'too_many_requests',
      message: expect.stringMatching(/\w/),
      status: 429,
    });
  });

  test.each([2, 3])(
    'blocks what a managed group blocks, without exceptions, in its current version: %d',
    (index) => {
      const { Name, Statement, Action, OverrideAction } = rules[index];
      expect(Statement).toEqual({
        ManagedRuleGroupStatement: { VendorName: 'AWS', Name: `AWSManagedRules${Name}` },
      });
      expect([OverrideAction, Action]).toEqual([{ None: {} }, undefined]);
    },
  );

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
