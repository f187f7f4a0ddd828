import { describe, expect, test } from '@jest/globals';
import { stages } from '../../../infra/stages.ts';
import { changedTemplate } from '../../support/changed-stack.ts';
import { asText, resourceOf, resourcesOf, stackTemplate } from '../../support/stack-template.ts';

const WEB_ACL = 'AWS::WAFv2::WebACL';

describe('the web ACL of production', () => {
  const template = stackTemplate('production');
  const found = resourcesOf(template, WEB_ACL);
  const [webAclId, webAcl] = found[0]!;
  const rules: any[] = webAcl.Properties['Rules'];
  const [perAddress, perKey] = rules.map(({ Statement }) => Statement.RateBasedStatement);

  test('is the only one, and stands before the stage of the API', () => {
    const [apiId] = resourceOf(template, 'AWS::ApiGateway::RestApi', 'ApiRestApi');
    const [stageId] = resourcesOf(template, 'AWS::ApiGateway::Stage')[0]!;
    expect(found).toHaveLength(1);
    expect(webAcl.Properties['Scope']).toBe('REGIONAL');
    const associations = resourcesOf(template, 'AWS::WAFv2::WebACLAssociation');
    expect(
      associations.map(([, { Properties }]) =>
        [Properties['ResourceArn'], Properties['WebACLArn']].map(asText),
      ),
    ).toEqual([
      [
        `arn:\${AWS::Partition}:apigateway:\${AWS::Region}::/restapis/\${${apiId}}/stages/\${${stageId}}`,
        `\${${webAclId}.Arn}`,
      ],
    ]);
  });

  test('lets through what no rule blocks', () => {
    expect(webAcl.Properties['DefaultAction']).toEqual({ Allow: {} });
  });

  test('asks limits first, then lists of bad addresses and bad inputs', () => {
    const inOrder = rules.toSorted((one, other) => one.Priority - other.Priority);
    expect(inOrder.map(({ Name }) => Name as string)).toEqual([
      'PerAddress',
      'PerKey',
      'AmazonIpReputationList',
      'KnownBadInputsRuleSet',
    ]);
    expect(new Set(rules.map(({ Priority }) => Priority as number)).size).toBe(rules.length);
  });

  test('counts requests by address', () => {
    expect(perAddress).toEqual({
      AggregateKeyType: 'IP',
      Limit: stages.production.firewall.requestsPerMinutePerAddress,
      EvaluationWindowSec: 60,
    });
  });

  // The authorizer takes any number of spaces after `Bearer` in any case: they would make a client look like many.
  test('counts requests by API key, however the header is spelled', () => {
    expect(perKey).toEqual({
      AggregateKeyType: 'CUSTOM_KEYS',
      CustomKeys: [
        {
          Header: {
            Name: 'Authorization',
            TextTransformations: [
              { Priority: 0, Type: 'COMPRESS_WHITE_SPACE' },
              { Priority: 1, Type: 'LOWERCASE' },
            ],
          },
        },
      ],
      Limit: stages.production.firewall.requestsPerMinutePerKey,
      EvaluationWindowSec: 60,
    });
  });

  test('takes its limits from the settings', () => {
    const firewall = { requestsPerMinutePerAddress: 11, requestsPerMinutePerKey: 22 };
    const settings = { ...stages.production, firewall };
    const [[, { Properties }]] = resourcesOf(changedTemplate('production', { settings }), WEB_ACL) as [any];
    const limits = Properties.Rules.map(({ Statement }: any) => Statement.RateBasedStatement?.Limit);
    expect(limits).toEqual([11, 22, undefined, undefined]);
  });

  describe.each(['PerAddress', 'PerKey'])('beyond the limit %s', (name) => {
    const { Action, OverrideAction } = rules.find(({ Name }) => Name === name);
    const { ResponseCode, CustomResponseBodyKey, ResponseHeaders } = Action.Block.CustomResponse;
    const { Content, ContentType } = webAcl.Properties['CustomResponseBodies'][CustomResponseBodyKey];

    test('blocks and does nothing else', () => {
      expect(Object.keys(Action)).toEqual(['Block']);
      expect(OverrideAction).toBeUndefined();
    });

    test('answers with the Error body', () => {
      const body = JSON.parse(Content);
      expect(Object.keys(body)).toEqual(['code', 'message', 'status']);
      expect(body).toEqual({
        code: 'too_many_requests',
        message: expect.stringMatching(/\w/),
        status: 429,
      });
      expect(ContentType).toBe('APPLICATION_JSON');
      expect(ResponseCode).toBe(429);
    });

    test('says when to come again, and that nobody must keep the answer', () => {
      expect(ResponseHeaders).toEqual([
        { Name: 'Retry-After', Value: '60' },
        { Name: 'Cache-Control', Value: 'no-store' },
      ]);
    });
  });

  describe.each(['AmazonIpReputationList', 'KnownBadInputsRuleSet'])('for AWS’s group %s', (name) => {
    const { Statement, Action, OverrideAction } = rules.find((rule) => rule.Name === name);

    test('takes it as it is, without exceptions, and in the version of the day', () => {
      expect(Statement).toEqual({
        ManagedRuleGroupStatement: { VendorName: 'AWS', Name: `AWSManagedRules${name}` },
      });
    });

    test('blocks what it blocks', () => {
      expect(OverrideAction).toEqual({ None: {} });
      expect(Action).toBeUndefined();
    });
  });

  test('leaves what those groups block to the gateway response for it, a 403', () => {
    const responses = resourcesOf(template, 'AWS::ApiGateway::GatewayResponse')
      .map(([, { Properties }]) => Properties)
      .filter(({ ResponseType }) => ResponseType === 'WAF_FILTERED');
    expect(responses.map(({ StatusCode }) => StatusCode as string)).toEqual(['403']);
  });

  // Both would hold the headers of requests, and with them API keys.
  describe('keeps nothing of requests', () => {
    test('as samples', () => {
      const text = JSON.stringify(template);
      const visibilities = [webAcl.Properties, ...rules].map(({ VisibilityConfig }) => VisibilityConfig);
      expect(visibilities.map(({ SampledRequestsEnabled }) => SampledRequestsEnabled as boolean)).toEqual(
        Array(5).fill(false),
      );
      expect(text).not.toMatch(/"SampledRequestsEnabled":true/);
      expect(webAcl.Properties['DataProtectionConfig']).toBeUndefined();
    });

    test('in a log', () => {
      expect(resourcesOf(template, 'AWS::WAFv2::LoggingConfiguration')).toEqual([]);
    });
  });

  test('counts what each rule blocks under a name of its own', () => {
    const names = [webAcl.Properties, ...rules].map(({ VisibilityConfig }) => VisibilityConfig);
    expect(names.every(({ CloudWatchMetricsEnabled }) => CloudWatchMetricsEnabled as boolean)).toBe(true);
    expect(new Set(names.map(({ MetricName }) => MetricName as string)).size).toBe(5);
  });
});

describe('a stage whose settings name no limits', () => {
  const { firewall: _, ...unprotected } = stages.production;

  test.each([
    ['staging', stackTemplate('staging')],
    ['production', changedTemplate('production', { settings: unprotected })],
  ])('has no web ACL: %s', (_stage, template) => {
    const types = Object.values<{ Type: string }>(template.Resources).map(({ Type }) => Type);
    expect(types.filter((type) => type.startsWith('AWS::WAF'))).toEqual([]);
  });
});
