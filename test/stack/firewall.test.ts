import { describe, expect, test } from '@jest/globals';
import { errorCatalog } from '../../shared/contract/errors.ts';
import { stackName } from '../../shared/names.ts';
import { stages } from '../support/stages.ts';
import { propertiesOf, readableTemplate } from '../support/stack-template.ts';

const COMMON_HEADERS = [
  { Name: 'Cache-Control', Value: 'no-store' },
  { Name: 'Strict-Transport-Security', Value: 'max-age=31536000' },
  { Name: 'X-Content-Type-Options', Value: 'nosniff' },
];

describe('the web ACL of production', () => {
  const template = readableTemplate('production');
  const [webAcl] = propertiesOf(template, 'AWS::WAFv2::WebACL');
  const [logging] = propertiesOf(template, 'AWS::WAFv2::LoggingConfiguration');
  const { Rules: rules } = webAcl;
  const [perIp, perKey, largeBody, ...managed] = rules;
  const { requestsPerMinutePerIp, requestsPerMinutePerKey } = stages.production.firewall;

  test('protects the API stage and allows requests that no rule blocks', () => {
    expect(webAcl).toMatchObject({ Scope: 'REGIONAL', DefaultAction: { Allow: {} } });
    const [{ ResourceArn }] = propertiesOf(template, 'AWS::WAFv2::WebACLAssociation');
    expect(ResourceArn).toMatch(/\/stages\/\$\{ApiRestApiDeploymentStageproduction\}$/);
  });

  test('applies the AWS managed rules for bad IP addresses and known attacks', () => {
    const groups = managed.map(({ Statement }: any) => Statement.ManagedRuleGroupStatement.Name);
    expect(groups).toEqual(['AWSManagedRulesAmazonIpReputationList', 'AWSManagedRulesKnownBadInputsRuleSet']);
    for (const { OverrideAction } of managed) expect(OverrideAction).toEqual({ None: {} });
  });

  // The authorizer accepts `Bearer` in any case, followed by one or more spaces. Without normalization, a client could
  // circumvent the limit of its API key with variants of the header.
  test('limits the requests of each IP address and each API key in its first two rules', () => {
    const TextTransformations = [
      { Priority: 0, Type: 'COMPRESS_WHITE_SPACE' },
      { Priority: 1, Type: 'LOWERCASE' },
    ];
    const CustomKeys = [{ Header: { Name: 'authorization', TextTransformations } }];
    const EvaluationWindowSec = 60;
    expect([perIp, perKey].map(({ Statement }) => Statement.RateBasedStatement)).toEqual([
      { AggregateKeyType: 'IP', Limit: requestsPerMinutePerIp, EvaluationWindowSec },
      { AggregateKeyType: 'CUSTOM_KEYS', CustomKeys, Limit: requestsPerMinutePerKey, EvaluationWindowSec },
    ]);
    expect(rules.map(({ Priority }: any) => Priority)).toEqual([...rules.keys()]);
    expect(perIp.Action).toEqual(perKey.Action);
    const { ResponseHeaders } = perIp.Action.Block.CustomResponse;
    expect(ResponseHeaders).toEqual([...COMMON_HEADERS, { Name: 'Retry-After', Value: '60' }]);
  });

  // WAF receives only the first 64 KiB of a body. It can detect that a body is larger, but cannot measure the body, so the
  // rule must match every oversize body.
  test('blocks each request whose body is larger than 64 KiB', () => {
    expect(webAcl.AssociationConfig.RequestBody.API_GATEWAY.DefaultSizeInspectionLimit).toBe('KB_64');
    expect(largeBody.Statement.SizeConstraintStatement).toEqual({
      FieldToMatch: { Body: { OversizeHandling: 'MATCH' } },
      ComparisonOperator: 'GT',
      Size: 65_536,
      TextTransformations: [{ Priority: 0, Type: 'NONE' }],
    });
  });

  test('returns the same response to a large body as the functions do', () => {
    const { ResponseHeaders, ...response } = largeBody.Action.Block.CustomResponse;
    expect(response).toEqual({ ResponseCode: 413, CustomResponseBodyKey: 'request_too_large' });
    expect(ResponseHeaders).toEqual(COMMON_HEADERS);
    const { Content } = webAcl.CustomResponseBodies.request_too_large;
    expect(JSON.parse(Content)).toEqual({
      code: 'request_too_large',
      message: errorCatalog.request_too_large.message,
      status: 413,
    });
  });

  test('has the same rules as the web ACL of staging, which only counts and logs the matching requests', () => {
    const { Firewall, FirewallLogging } = readableTemplate('staging').Resources;
    const actions = rules.map(({ Action }: any) => (Action ? 'Action' : 'OverrideAction'));
    const Rules = rules.map((rule: any, index: number) => ({ ...rule, [actions[index]]: { Count: {} } }));
    const Name = stackName('staging');
    const VisibilityConfig = { ...webAcl.VisibilityConfig, MetricName: Name };
    expect(Firewall.Properties).toEqual({ ...webAcl, Name, Rules, VisibilityConfig });
    expect(JSON.stringify(FirewallLogging).match(/BLOCK|\w*COUNT/g)).toEqual(['COUNT', 'EXCLUDED_AS_COUNT']);
  });

  test('logs only blocked requests', () => {
    const Conditions = [{ ActionCondition: { Action: 'BLOCK' } }];
    const Filters = [{ Behavior: 'KEEP', Requirement: 'MEETS_ANY', Conditions }];
    expect(logging.LoggingFilter).toEqual({ DefaultBehavior: 'DROP', Filters });
  });

  // Log entries and sampled requests contain request headers. If a request exceeds the limit of its API key, the log
  // entry also contains this key, unless data protection replaces the key.
  test('keeps API keys out of the log and out of sampled requests', () => {
    expect(logging.RedactedFields).toEqual([{ SingleHeader: { Name: 'authorization' } }]);
    expect(webAcl.DataProtectionConfig.DataProtections).toEqual([
      { Action: 'SUBSTITUTION', Field: { FieldType: 'SINGLE_HEADER', FieldKeys: ['authorization'] } },
    ]);
    const visible = { CloudWatchMetricsEnabled: true, SampledRequestsEnabled: false };
    for (const { Name = stackName('production'), VisibilityConfig } of [webAcl, ...rules])
      expect(VisibilityConfig).toEqual({ ...visible, MetricName: Name });
  });
});
