import { Aws, Fn } from 'aws-cdk-lib';
import { CfnLoggingConfiguration, CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { type ErrorBody, errorBody } from '../../shared/contract/errors.ts';
import { MAX_BODY_BYTES } from '../../shared/contract/limits.ts';
import { operations } from '../../shared/contract/operations.ts';
import type { StageSettings } from '../settings.ts';
import { createLogGroup } from './log-group.ts';

/** Period over which a limit counts requests. A client that pauses for this long is no longer blocked. */
const WINDOW_SECONDS = 60;

const KEY_HEADER = 'authorization';

/** Header values that differ only in spaces or case count as the same API key. */
const normalized = ['COMPRESS_WHITE_SPACE', 'LOWERCASE'].map((type, priority) => ({ type, priority }));

const tooMany = errorBody(
  'too_many_requests',
  'Too many requests from this IP address or API key. Please slow down.',
);
const tooLarge = errorBody('request_too_large', operations.createPet.errors.request_too_large);

/**
 * Adds a web ACL and its log if the settings include a firewall. The limits per IP address and API key come first,
 * because a rule does not count requests that an earlier rule has blocked. AWS's managed rules come after the rule for
 * large bodies, so that every large body gets the same response.
 */
export function addFirewall(scope: Construct, stageArn: string, settings: StageSettings): void {
  if (!settings.firewall) return;
  const { requestsPerMinutePerIp, requestsPerMinutePerKey } = settings.firewall;
  const webAcl = new CfnWebACL(scope, 'Firewall', {
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    visibilityConfig: visibility('Firewall'),
    customResponseBodies: Object.fromEntries(
      [tooMany, tooLarge].map((body) => [
        body.code,
        { contentType: 'APPLICATION_JSON', content: JSON.stringify(body) },
      ]),
    ),
    associationConfig: {
      requestBody: { API_GATEWAY: { defaultSizeInspectionLimit: `KB_${MAX_BODY_BYTES / 1_024}` } },
    },
    // Unlike `redactedFields`, this setting also masks the API keys in `rateBasedRuleList`.
    // https://docs.aws.amazon.com/waf/latest/developerguide/data-protection-exceptions.html
    dataProtectionConfig: {
      dataProtections: [
        { field: { fieldType: 'SINGLE_HEADER', fieldKeys: [KEY_HEADER] }, action: 'SUBSTITUTION' },
      ],
    },
    rules: [
      limit('PerIp', requestsPerMinutePerIp, { aggregateKeyType: 'IP' }),
      limit('PerKey', requestsPerMinutePerKey, {
        aggregateKeyType: 'CUSTOM_KEYS',
        customKeys: [{ header: { name: KEY_HEADER, textTransformations: normalized } }],
      }),
      largeBody(),
      managed('AmazonIpReputationList'),
      managed('KnownBadInputsRuleSet'),
    ].map((rule, priority) => ({ ...rule, priority })),
  });
  const webAclArn = webAcl.attrArn;
  new CfnWebACLAssociation(scope, 'FirewallAssociation', { resourceArn: stageArn, webAclArn });
  addLog(scope, webAclArn, settings);
}

/**
 * Adds the log of blocked requests. WAF adds the policy that allows log delivery.
 * https://docs.aws.amazon.com/waf/latest/developerguide/logging-cw-logs.html
 */
function addLog(scope: Construct, webAclArn: string, settings: StageSettings): void {
  // WAF requires the prefix. The stack id makes the name unique if an earlier stack's log group was retained.
  const name = `aws-waf-logs-${Fn.select(2, Fn.split('/', Aws.STACK_ID))}`;
  const { logGroupName } = createLogGroup(scope, 'FirewallLog', settings, name);
  const logGroupArn = `arn:${Aws.PARTITION}:logs:${Aws.REGION}:${Aws.ACCOUNT_ID}:log-group:${logGroupName}`;
  const isBlocked = { ActionCondition: { Action: 'BLOCK' } };
  new CfnLoggingConfiguration(scope, 'FirewallLogging', {
    resourceArn: webAclArn,
    logDestinationConfigs: [logGroupArn],
    redactedFields: [{ singleHeader: { Name: KEY_HEADER } }],
    loggingFilter: {
      DefaultBehavior: 'DROP',
      Filters: [{ Behavior: 'KEEP', Requirement: 'MEETS_ALL', Conditions: [isBlocked] }],
    },
  });
}

type Rule = Omit<CfnWebACL.RuleProperty, 'priority'>;

/** https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-type-rate-based.html */
function limit(
  name: string,
  requests: number,
  aggregation: Pick<CfnWebACL.RateBasedStatementProperty, 'aggregateKeyType' | 'customKeys'>,
): Rule {
  const rateBasedStatement = { limit: requests, evaluationWindowSec: WINDOW_SECONDS, ...aggregation };
  return blocking(name, { rateBasedStatement }, tooMany, { name: 'Retry-After', value: `${WINDOW_SECONDS}` });
}

/**
 * Blocks bodies that the functions would reject, including bodies above Lambda's limit of 6,291,456 bytes. WAF inspects
 * only the start of a body above the inspection limit, so `MATCH` is required to block such bodies.
 * https://docs.aws.amazon.com/waf/latest/developerguide/waf-oversize-request-components.html
 */
function largeBody(): Rule {
  const sizeConstraintStatement = {
    fieldToMatch: { body: { oversizeHandling: 'MATCH' } },
    comparisonOperator: 'GT',
    size: MAX_BODY_BYTES,
    textTransformations: [{ priority: 0, type: 'NONE' }],
  };
  return blocking('LargeBody', { sizeConstraintStatement }, tooLarge);
}

function blocking(
  name: string,
  statement: CfnWebACL.StatementProperty,
  { code, status }: ErrorBody,
  ...headers: CfnWebACL.CustomHTTPHeaderProperty[]
): Rule {
  const customResponse = {
    responseCode: status,
    customResponseBodyKey: code,
    responseHeaders: [...headers, { name: 'Cache-Control', value: 'no-store' }],
  };
  return { name, statement, action: { block: { customResponse } }, visibilityConfig: visibility(name) };
}

/** https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-list.html */
function managed(group: string): Rule {
  return {
    name: group,
    statement: { managedRuleGroupStatement: { vendorName: 'AWS', name: `AWSManagedRules${group}` } },
    overrideAction: { none: {} },
    visibilityConfig: visibility(group),
  };
}

/** Disables sampling, because sampled requests would contain API keys. */
function visibility(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { cloudWatchMetricsEnabled: true, metricName, sampledRequestsEnabled: false };
}
