import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { errorBody } from '../../shared/contract/errors.ts';
import type { StageSettings } from '../settings.ts';

/** The span over which requests are counted, and after which a client that kept still is let in again. */
const WINDOW_SECONDS = 60;

const TOO_MANY = 'TooManyRequests';
const tooMany = errorBody(
  'too_many_requests',
  'Too many requests for this address or API key; please slow down.',
);

type Limits = NonNullable<StageSettings['firewall']>;

/** The web ACL of a stage: limits per address and API key, then AWS's lists of bad addresses and known attacks. */
export function addFirewall(
  scope: Construct,
  stageArn: string,
  { requestsPerMinutePerAddress, requestsPerMinutePerKey }: Limits,
): void {
  const webAcl = new CfnWebACL(scope, 'Firewall', {
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    visibilityConfig: visibility('Firewall'),
    customResponseBodies: {
      [TOO_MANY]: { contentType: 'APPLICATION_JSON', content: JSON.stringify(tooMany) },
    },
    rules: [
      limit('PerAddress', requestsPerMinutePerAddress, { aggregateKeyType: 'IP' }),
      limit('PerKey', requestsPerMinutePerKey, {
        aggregateKeyType: 'CUSTOM_KEYS',
        customKeys: [
          {
            header: {
              name: 'Authorization',
              // Other spaces, or another case of `Bearer`, do not make another client.
              textTransformations: [
                { priority: 0, type: 'COMPRESS_WHITE_SPACE' },
                { priority: 1, type: 'LOWERCASE' },
              ],
            },
          },
        ],
      }),
      managed('AmazonIpReputationList'),
      managed('KnownBadInputsRuleSet'),
    ].map((rule, priority) => ({ ...rule, priority })),
  });
  new CfnWebACLAssociation(scope, 'FirewallAssociation', {
    resourceArn: stageArn,
    webAclArn: webAcl.attrArn,
  });
}

type Rule = Omit<CfnWebACL.RuleProperty, 'priority'>;

/** https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-type-rate-based.html */
function limit(
  name: string,
  requests: number,
  counted: Pick<CfnWebACL.RateBasedStatementProperty, 'aggregateKeyType' | 'customKeys'>,
): Rule {
  return {
    name,
    statement: {
      rateBasedStatement: { limit: requests, evaluationWindowSec: WINDOW_SECONDS, ...counted },
    },
    action: {
      block: {
        customResponse: {
          responseCode: tooMany.status,
          customResponseBodyKey: TOO_MANY,
          responseHeaders: [
            { name: 'Retry-After', value: WINDOW_SECONDS.toString() },
            { name: 'Cache-Control', value: 'no-store' },
          ],
        },
      },
    },
    visibilityConfig: visibility(name),
  };
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
