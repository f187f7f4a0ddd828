import { Aws, Fn } from 'aws-cdk-lib';
import { CfnLoggingConfiguration, CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { type ErrorBody, errorBody } from '../../shared/contract/errors.ts';
import { MAX_BODY_BYTES } from '../../shared/contract/limits.ts';
import { operations } from '../../shared/contract/operations.ts';
import type { StageSettings } from '../settings.ts';
import { createLogGroup } from './log-group.ts';

/** The span over which requests are counted, and after which a client that kept still is let in again. */
const WINDOW_SECONDS = 60;

/** The header of the API key. */
const KEY_HEADER = 'authorization';

/** Other spaces, or another case of `Bearer`, do not make another client. */
const sameKey = ['COMPRESS_WHITE_SPACE', 'LOWERCASE'].map((type, priority) => ({ type, priority }));

const tooMany = errorBody(
  'too_many_requests',
  'Too many requests for this address or API key; please slow down.',
);
const tooLarge = errorBody('request_too_large', operations.createPet.errors.request_too_large);

/**
 * The web ACL of a stage, and its log. The limits per address and API key come first, because a rule counts only
 * requests that no rule before it has blocked. AWS's lists of bad addresses and known attacks come last, so that a body
 * that is too large gets the same response whatever is in it.
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
    // Unlike redaction, this is documented to reach `rateBasedRuleList`, where a log line repeats what a rule counts by:
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
        customKeys: [{ header: { name: KEY_HEADER, textTransformations: sameKey } }],
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
 * The log of blocked requests. WAF adds the policy with which log delivery may write it.
 * https://docs.aws.amazon.com/waf/latest/developerguide/logging-cw-logs.html
 */
function addLog(scope: Construct, webAclArn: string, settings: StageSettings): void {
  // WAF requires the prefix. The stack's id avoids the name of a log that an earlier stack left behind.
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
  counted: Pick<CfnWebACL.RateBasedStatementProperty, 'aggregateKeyType' | 'customKeys'>,
): Rule {
  const rateBasedStatement = { limit: requests, evaluationWindowSec: WINDOW_SECONDS, ...counted };
  return blocking(name, { rateBasedStatement }, tooMany, { name: 'Retry-After', value: `${WINDOW_SECONDS}` });
}

/**
 * Blocks bodies that no function accepts, some of which Lambda would not accept either (6,291,456 bytes). WAF gets the
 * beginning of a body above the inspection limit, so `MATCH` is what blocks it.
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

/** Sampled requests are kept with all of their headers, the API key among them: there are none. */
function visibility(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { cloudWatchMetricsEnabled: true, metricName, sampledRequestsEnabled: false };
}
