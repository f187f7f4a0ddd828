import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Operation } from '../../shared/contract/operation.ts';
import { operations } from '../../shared/contract/operations.ts';
import { pascalCase } from '../../shared/names.ts';
import type { Functions } from './functions.ts';
import type { StageStack } from './stage-stack.ts';

interface LogGroups {
  accessLog: logs.ILogGroup;
  firewallLog: logs.ILogGroup;
}

// Requests with an active key. For an expired or revoked key, the log contains a keyId too, but also ACCESS_DENIED.
const WITH_ACTIVE_KEY = 'filter keyId like /^key_/ and errorType != "ACCESS_DENIED"';
/** Errors that a function returned, threw to Lambda, or ended with, such as a crash or a timeout. */
const FAILED =
  'level = "ERROR" or ispresent(errorType) or (ispresent(record.status) and record.status != "success")';

/** Queries of the access log, by name. `PUT-…-HERE` stands for a word that the operator replaces. */
const accessLogQueries = {
  'find-request': `filter requestId = "PUT-THE-REQUEST-ID-HERE" or extendedRequestId = "PUT-THE-REQUEST-ID-HERE"
| fields @timestamp, status, errorType, method, resource, keyId, denialReason, latency, authorizerLatency, integrationLatency, functionRequestId, firewall`,
  // Lambda rejects bodies above 6,291,456 bytes with a 413, which API Gateway can turn into a 5xx.
  'server-errors': `filter status like /^5/ and integrationStatus != "413"
| stats count(*) as responses, earliest(@timestamp) as first, latest(@timestamp) as last by status, errorType, integrationStatus, method, resource, keyId
| sort responses desc | limit 50`,
  // What the alarm ApiRejectedRequests counts.
  'rejected-requests': `filter status like /^4/ and status != "404" and functionRequestId != "-"
| stats count(*) as requests, earliest(@timestamp) as first by status, method, resource, keyId
| sort requests desc | limit 50`,
  'rejected-clients': `filter status like /^4/ and status != "404" and status != "405" and errorType != "UNAUTHORIZED"
| stats count(*) as requests by sourceIp, keyId, status, errorType, denialReason
| sort requests desc | limit 20`,
  latencies: `filter latency like /^\\d+$/
| stats count(*) as requests, pct(latency, 50) as p50, pct(latency, 99) as p99, pct(integrationLatency, 99) as function99, pct(authorizerLatency, 99) as authorizer99 by method, resource`,
  'busiest-clients': `stats count(*) as requests by sourceIp, keyId, bin(1m) | sort requests desc | limit 20`,
  'denied-keys': `filter errorType = "ACCESS_DENIED" and keyId like /^key_/
| stats count(*) as requests, latest(@timestamp) as last by keyId, denialReason, sourceIp
| sort requests desc`,
  'requests-of-key': `filter keyId = "PUT-THE-KEY-ID-HERE"
| stats count(*) as requests, earliest(@timestamp) as first, latest(@timestamp) as last by sourceIp, method, resource, status
| sort last desc`,
  'usage-by-key': `${WITH_ACTIVE_KEY}
| stats count(*) as requests, latest(@timestamp) as last by keyId, status
| sort keyId asc, status asc | limit 10000`,
  connections: `${WITH_ACTIVE_KEY}
| stats count(*) as requests, latest(@timestamp) as last by domainName, tlsVersion, keyId
| sort requests desc`,
};

/** Queries of the logs of all functions, by name. The name of a log stream contains the version of its function in brackets. */
const functionQueries = {
  'find-cause': `filter @message like "PUT-THE-REQUEST-ID-HERE"
| fields @timestamp, operation, code, keyId, error.name, error.code, error.message, error.cause.message, error.stack, record.status, record.metrics.durationMs, record.metrics.maxMemoryUsedMB`,
  'error-causes': `filter ${FAILED}
| parse @logStream "[*]" as version
| stats count(*) as errors, latest(@timestamp) as last by @log, version, operation, code, error.name, error.code, error.message, errorType, errorMessage, record.status, record.errorType
| sort errors desc | limit 50`,
};

const firewallQueries = {
  'blocked-requests': `stats count(*) as requests, latest(@timestamp) as last by terminatingRuleId, nonTerminatingMatchingRules.0.ruleId, httpRequest.clientIp, httpRequest.httpMethod, httpRequest.uri
| sort requests desc | limit 20`,
};

/**
 * Adds queries of the stage's logs, which CloudWatch Logs Insights shows as `PetStore-STAGE/NAME` under "Saved and sample
 * queries", and which `docs/oncall.sh query NAME` runs.
 */
export function addQueries(stack: StageStack, functions: Functions, groups: LogGroups): void {
  const scope = new Construct(stack, 'Queries');
  const add = (queries: Record<string, string>, logGroups: logs.ILogGroup[]) => {
    for (const [name, queryString] of Object.entries(queries))
      new logs.CfnQueryDefinition(scope, pascalCase(name), {
        name: `${stack.stackName}/${name}`,
        queryString,
        logGroupNames: logGroups.map(({ logGroupName }) => logGroupName),
      });
  };
  add({ ...accessLogQueries, ...deprecatedCalls() }, [groups.accessLog]);
  add(
    functionQueries,
    Object.values(functions).map(({ logGroup }) => logGroup),
  );
  if (stack.stage.firewall) add(firewallQueries, [groups.firewallLog]);
}

/** Returns the query for the keys with which clients call deprecated operations, if there are such operations. */
function deprecatedCalls(): Record<string, string> {
  const deprecated = Object.values<Operation>(operations).filter(({ deprecation }) => deprecation);
  if (deprecated.length === 0) return {};
  const calls = deprecated.map(({ method, path }) => `(method = "${method}" and resource = "${path}")`);
  return {
    'deprecated-calls': `${WITH_ACTIVE_KEY} and (${calls.join(' or ')})
| stats count(*) as calls, latest(@timestamp) as last by method, resource, keyId
| sort calls desc`,
  };
}
