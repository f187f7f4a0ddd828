import { Aws, Fn } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as logs from 'aws-cdk-lib/aws-logs';
import * as waf from 'aws-cdk-lib/aws-wafv2';
import { type ErrorBody, errorBody } from '../../shared/contract/errors.ts';
import { commonHeaders } from '../../shared/contract/operation.ts';
import { MAX_BODY_BYTES } from '../../shared/contract/limits.ts';
import { stackName } from '../../shared/names.ts';
import { addLogGroup, FIVE_MINUTES, type StageStack } from './stage-stack.ts';

/**
 * Period over which a limit counts requests. Blocking ends about this long after a client pauses, because WAF notices the
 * pause with a delay.
 * https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-type-rate-based-caveats.html
 */
const WINDOW_SECONDS = 60;

const KEY_HEADER = 'authorization';

/** Transformations with which header values that differ only in spaces or case count as the same API key. */
const normalized = ['COMPRESS_WHITE_SPACE', 'LOWERCASE'].map((type, priority) => ({ type, priority }));

const tooMany = errorBody(
  'too_many_requests',
  `Too many requests from this IP address or API key. Retry after ${WINDOW_SECONDS} seconds.`,
);
const tooLarge = errorBody('request_too_large');
const jsonOf = (body: ErrorBody) => ({ contentType: 'APPLICATION_JSON', content: JSON.stringify(body) });

/**
 * Matches bodies above the functions' limit, and therefore also bodies above Lambda's limit of 6,291,456 bytes. WAF
 * inspects only the start of a body above the inspection limit, so `MATCH` is required to block such bodies.
 * https://docs.aws.amazon.com/waf/latest/developerguide/waf-oversize-request-components.html
 */
const largeBody = {
  fieldToMatch: { body: { oversizeHandling: 'MATCH' } },
  comparisonOperator: 'GT',
  size: MAX_BODY_BYTES,
  textTransformations: [{ priority: 0, type: 'NONE' }],
};

/**
 * Adds a web ACL that writes to the log group, if the settings include a firewall. If `action` is `block`, also adds an
 * alarm. The limits per IP address and API key come first, because a rule does not count requests
 * that an earlier rule blocked. AWS's managed rules come after the rule for large bodies, so that a large body gets a 413
 * even if a managed rule would block it too.
 */
export function addFirewall(stack: StageStack, resourceArn: string, { logGroupName }: logs.ILogGroup): void {
  const { stage } = stack;
  if (!stage.firewall) return;
  const { action, requestsPerMinutePerIp, requestsPerMinutePerKey } = stage.firewall;
  const rules = [
    limit('PerIp', { limit: requestsPerMinutePerIp, aggregateKeyType: 'IP' }),
    limit('PerKey', {
      limit: requestsPerMinutePerKey,
      aggregateKeyType: 'CUSTOM_KEYS',
      customKeys: [{ header: { name: KEY_HEADER, textTransformations: normalized } }],
    }),
    blocking('LargeBody', { sizeConstraintStatement: largeBody }, tooLarge),
    managed('AmazonIpReputationList'),
    managed('KnownBadInputsRuleSet'),
  ].map((rule) => (action === 'count' ? counting(rule) : rule));
  const keyField = { fieldType: 'SINGLE_HEADER', fieldKeys: [KEY_HEADER] };
  // WAF's metrics identify a web ACL by its metric name, which must be unique in the account and region. The name allows
  // policies to distinguish the stage's web ACL from those of others.
  const metricName = stackName(stage.name);
  const webAcl = new waf.CfnWebACL(stack, 'Firewall', {
    name: metricName,
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    visibilityConfig: visibility(metricName),
    customResponseBodies: { [tooMany.code]: jsonOf(tooMany), [tooLarge.code]: jsonOf(tooLarge) },
    associationConfig: {
      requestBody: { API_GATEWAY: { defaultSizeInspectionLimit: `KB_${MAX_BODY_BYTES / 1_024}` } },
    },
    // Unlike `redactedFields`, this setting also masks the API keys in the log field `rateBasedRuleList`.
    // https://docs.aws.amazon.com/waf/latest/developerguide/data-protection-exceptions.html
    dataProtectionConfig: { dataProtections: [{ field: keyField, action: 'SUBSTITUTION' }] },
    rules: rules.map((rule, priority) => ({ ...rule, priority, visibilityConfig: visibility(rule.name) })),
  });
  new waf.CfnWebACLAssociation(stack, 'FirewallAssociation', { resourceArn, webAclArn: webAcl.attrArn });
  addLog(stack, webAcl.attrArn, action, logGroupName);
  if (action === 'count') return;
  // https://docs.aws.amazon.com/waf/latest/developerguide/waf-metrics.html
  const sumOf = (name: string) =>
    new cloudwatch.Metric({
      namespace: 'AWS/WAFV2',
      metricName: name,
      dimensionsMap: { WebACL: metricName, Region: Aws.REGION, Rule: 'ALL' },
      statistic: 'Sum',
      period: FIVE_MINUTES,
    });
  stack.addAlarm('FirewallBlocks', {
    urgency: 'mail',
    section: 'Blocked requests',
    description:
      'Clients get 403, 413 or 429 responses. In two periods of 5 minutes, the firewall blocked over 90% of requests.',
    metric: new cloudwatch.MathExpression({
      expression: 'blocked - 9 * allowed',
      usingMetrics: { blocked: sumOf('BlockedRequests'), allowed: sumOf('AllowedRequests') },
      label: 'Blocked requests above 9 times the allowed requests',
      period: FIVE_MINUTES,
    }),
    threshold: 50,
    datapointsToAlarm: 2,
  });
}

/**
 * Adds the log group even if the stage has no firewall. The log group has a fixed name, and a stage with `retainData`
 * retains it. If the log group were removed and added together with the firewall, the second creation would therefore
 * find the name in use and fail. An empty log group costs nothing.
 */
export function addFirewallLog(stack: StageStack): logs.LogGroup {
  // WAF requires the prefix `aws-waf-logs-`. The stack id's UUID makes the name unique if an earlier stack's log group
  // was retained.
  const name = `aws-waf-logs-${Aws.STACK_NAME}-${Fn.select(2, Fn.split('/', Aws.STACK_ID))}`;
  return addLogGroup(stack, 'FirewallLog', stack.stage, name);
}

/**
 * Adds the log of the requests that the web ACL blocks or counts. WAF adds the policy that allows log delivery.
 * https://docs.aws.amazon.com/waf/latest/developerguide/logging-cw-logs.html
 */
function addLog(stack: StageStack, resourceArn: string, action: string, logGroupName: string): void {
  const logGroupArn = `arn:${Aws.PARTITION}:logs:${Aws.REGION}:${Aws.ACCOUNT_ID}:log-group:${logGroupName}`;
  // If a rule group only counts, WAF logs the action EXCLUDED_AS_COUNT, so the filter also keeps this action.
  const actions = action === 'block' ? ['BLOCK'] : ['COUNT', 'EXCLUDED_AS_COUNT'];
  const Conditions = actions.map((Action) => ({ ActionCondition: { Action } }));
  new waf.CfnLoggingConfiguration(stack, 'FirewallLogging', {
    resourceArn,
    logDestinationConfigs: [logGroupArn],
    redactedFields: [{ singleHeader: { Name: KEY_HEADER } }],
    loggingFilter: {
      DefaultBehavior: 'DROP',
      Filters: [{ Behavior: 'KEEP', Requirement: 'MEETS_ANY', Conditions }],
    },
  });
}

type Rule = Omit<waf.CfnWebACL.RuleProperty, 'priority' | 'visibilityConfig'>;

/**
 * Returns a rule that blocks requests above a rate with a 429.
 * https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-type-rate-based.html
 */
function limit(name: string, rate: waf.CfnWebACL.RateBasedStatementProperty): Rule {
  const rateBasedStatement = { ...rate, evaluationWindowSec: WINDOW_SECONDS };
  return blocking(name, { rateBasedStatement }, tooMany, { 'Retry-After': `${WINDOW_SECONDS}` });
}

/** Returns a rule that blocks matching requests with an error response. The web ACL contains its body under `code`. */
function blocking(
  name: string,
  statement: waf.CfnWebACL.StatementProperty,
  { code, status }: ErrorBody,
  headers: Record<string, string> = {},
): Rule {
  const customResponse = {
    responseCode: status,
    customResponseBodyKey: code,
    responseHeaders: Object.entries({ ...commonHeaders, ...headers }).map(([header, value]) => ({
      name: header,
      value,
    })),
  };
  return { name, statement, action: { block: { customResponse } } };
}

/**
 * Returns a rule that consists of a rule group of AWS.
 * https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-list.html
 */
function managed(name: string): Rule {
  const managedRuleGroupStatement = { vendorName: 'AWS', name: `AWSManagedRules${name}` };
  return { name, statement: { managedRuleGroupStatement }, overrideAction: { none: {} } };
}

/** Returns a copy of the rule that only counts requests. A rule group has `overrideAction` instead of `action`. */
function counting(rule: Rule): Rule {
  const count = { count: {} };
  return rule.action ? { ...rule, action: count } : { ...rule, overrideAction: count };
}

/** Returns a configuration with a metric but without sampling, because sampled requests would contain API keys. */
function visibility(metricName: string): waf.CfnWebACL.VisibilityConfigProperty {
  return { cloudWatchMetricsEnabled: true, metricName, sampledRequestsEnabled: false };
}
