# Queries for docs/runbook.md. They need the functions of runbook.sh. Each query reads the last hour, or the last
# $MINUTES minutes, of the access log, the firewall log, or the log of the function $FUNCTION.

## Queries of your own

# access_log QUERY: runs a query on the access log.
# Output: the fields that QUERY names.
access_log() { insights ApiAccessLog "$1"; }

# function_log QUERY: runs a query on the log of the function `$FUNCTION`.
# Output: the fields that QUERY names.
function_log() { insights "$FUNCTION${FUNCTION:+Logs}" "$1"; }

# firewall_log QUERY: runs a query on the log of the web ACL.
# Output: the fields that QUERY names.
firewall_log() { insights FirewallLog "$1"; }

## Find a request

# find_request ID: finds a request's line in the access log.
find_request() {
  access_log 'filter requestId = "'"$1"'"
    | fields @timestamp, status, errorType, method, resource, keyId, denialReason, latency, authorizerLatency, integrationLatency,
        functionRequestId, firewall'
}

# find_cause ID: finds a request's lines in the function log.
find_cause() {
  function_log 'filter requestId = "'"$1"'"
    | fields @timestamp, operation, code, keyId, error.name, error.code, error.message, error.cause.message,
        error.stack'
}

# find_invocation ID: finds all lines of an invocation in the function log, by its `functionRequestId`. Unlike lines with
# a request id, these lines exist even if the function did not complete the request.
find_invocation() { function_log 'filter @message like "'"$1"'" | fields @timestamp, @message'; }

# last_error: finds the last error in the function log, for `npm run trace`.
# Output: `@message`, which is the line of the log.
last_error() { function_log 'filter level = "ERROR" | sort @timestamp desc | limit 1 | display @message'; }

## Errors and latencies

# server_errors: counts 5xx responses, except for those that clients cause with bodies above Lambda's limit of 6,291,456
# bytes.
server_errors() {
  access_log 'filter status like /^5/ and integrationStatus != "413"
    | stats count(*) as responses by status, errorType, integrationStatus, method, resource, keyId
    | sort responses desc'
}

# error_causes: counts the errors that caused 5xx responses, by code and message.
error_causes() {
  function_log 'filter level = "ERROR" and ispresent(code)
    | stats count(*) as responses, fromMillis(max(@timestamp)) as last by operation, code, error.name, error.code,
        error.message
    | sort responses desc | limit 20'
}

# crashes: finds crashes, timeouts, and errors that the function threw to Lambda.
crashes() {
  function_log 'filter ispresent(errorType) or (ispresent(record.status) and record.status != "success")
    | fields @timestamp, type, record.status, record.errorType, record.metrics.durationMs,
        record.metrics.maxMemoryUsedMB, errorType, errorMessage
    | sort @timestamp desc | limit 50'
}

# version_errors VERSION: finds the errors of a version of the function. The names of log streams contain the version in
# brackets, so the query filters by these names.
version_errors() {
  function_log 'filter @logStream like "['"$1"']"
      and (ispresent(errorType) or (ispresent(record.status) and record.status != "success") or level = "ERROR")
    | fields @timestamp, errorType, errorMessage, record.status, record.errorType, code, error.message
    | sort @timestamp desc | limit 50'
}

# authorizer_errors: counts the requests for which the authorizer failed, by minute.
authorizer_errors() {
  access_log 'filter errorType like /^AUTHORIZER/ | stats count(*) as rejected by errorType, bin(1m)'
}

# latencies: compares each operation's median and p99 latency with the p99 of its function and of the authorizer, in
# milliseconds.
latencies() {
  access_log 'filter latency like /^\d+$/
    | stats count(*) as requests, pct(latency, 50) as p50, pct(latency, 99) as p99,
        pct(integrationLatency, 99) as function99, pct(authorizerLatency, 99) as authorizer99 by method, resource'
}

## Rejected and blocked requests

# rejected_requests: counts the rejected requests that the alarm `ApiRejectedRequests` counts, by operation and key.
rejected_requests() {
  access_log 'filter status like /^4/ and status != "404" and functionRequestId != "-"
    | stats count(*) as requests, fromMillis(min(@timestamp)) as first by status, method, resource, keyId
    | sort requests desc'
}

# rejected_clients: counts 4xx responses by client, except a 404, a 405, and a 401 for a missing or malformed key.
rejected_clients() {
  access_log 'filter status like /^4/ and status != "404" and status != "405" and errorType != "UNAUTHORIZED"
    | stats count(*) as requests by sourceIp, keyId, status, errorType, denialReason | sort requests desc | limit 20'
}

# denied_keys: finds the expired and revoked keys that clients still use, so that you can inform their owners.
denied_keys() {
  access_log 'filter errorType = "ACCESS_DENIED" and keyId like /^key_/
    | stats count(*) as requests, fromMillis(max(@timestamp)) as last by keyId, denialReason, sourceIp
    | sort requests desc'
}

# blocked_requests: counts the requests that the web ACL blocked or only counted, by rule, client and URL.
blocked_requests() {
  firewall_log 'stats count(*) as requests, fromMillis(max(@timestamp)) as last by terminatingRuleId,
      nonTerminatingMatchingRules.0.ruleId, httpRequest.clientIp, httpRequest.httpMethod, httpRequest.uri
    | sort requests desc | limit 20'
}

# busy_addresses: finds the IP addresses with the most requests.
busy_addresses() { access_log 'stats count(*) as requests by sourceIp | sort requests desc | limit 20'; }

# requests_by_key: finds the keys with the most requests in one minute.
requests_by_key() { access_log 'stats count(*) as requests by keyId, bin(1m) | sort requests desc | limit 20'; }

## Keys and clients

# key_requests KEY_ID: counts the requests with a key by IP address, operation and status.
key_requests() {
  access_log 'filter keyId = "'"$1"'"
    | stats count(*) as requests, fromMillis(min(@timestamp)) as first, fromMillis(max(@timestamp)) as last
        by sourceIp, method, resource, status
    | sort last desc'
}

# used_keys: counts the requests of each used key, least recently used key first. Requests for which the key was expired
# or revoked do not count.
used_keys() {
  access_log 'filter keyId like /^key_/ and errorType != "ACCESS_DENIED"
    | stats count(*) as requests, fromMillis(max(@timestamp)) as last by keyId | sort last asc'
}

# unused_keys: finds the active keys that clients did not use.
# Output: a key's record per line, as JSON.
unused_keys() {
  local used
  used=$(access_log 'filter keyId like /^key_/ and errorType != "ACCESS_DENIED"
    | stats count(*) as requests by keyId' | grep -oE 'key_\w+')
  if [ -z "$used" ]; then echo 'The access log contains no key ids. Increase MINUTES.' >&2; return 1; fi
  npm run --silent keys -- list --stage "$STAGE" --json | grep -oE '"keyId":.*"state":"active"' | grep -vF "$used"
}

# key_usage: counts the requests of each key per day, and among them those with a 4xx, a 429 and a 5xx, and finds the
# key's owner. Requests for which the key was expired or revoked do not count.
# Output: a table with the columns `DAY`, `KEY ID`, `REQUESTS`, `4XX`, `429`, `5XX` and `OWNER`.
key_usage() {
  local keys
  keys=$(npm run --silent keys -- list --stage "$STAGE" --json) || return
  printf 'DAY\tKEY ID\tREQUESTS\t4XX\t429\t5XX\tOWNER\n'
  {
    printf '%s\n' "$keys"
    access_log 'filter keyId like /^key_/ and errorType != "ACCESS_DENIED"
      | stats count(*) as requests by bin(1d) as day, keyId, status | limit 10000'
  } | awk -F '\t' '
    /^\[?[{]"keyId":/ {
      split($0, part, "\"")
      if (match($0, /"owner":"([^"\\]|\\.)*"/)) owner[part[4]] = substr($0, RSTART + 9, RLENGTH - 10)
      next
    }
    /requests=/ {
      for (i = 1; i <= NF; i++) value[substr($i, 1, index($i, "=") - 1)] = substr($i, index($i, "=") + 1)
      row = substr(value["day"], 1, 10) "\t" value["keyId"]
      n = value["requests"]
      status = value["status"]
      all[row] += n
      if (status ~ /^4/) rejected[row] += n
      if (status == 429) throttled[row] += n
      if (status ~ /^5/) failed[row] += n
    }
    END {
      for (row in all) {
        split(row, part, "\t")
        print row "\t" all[row] "\t" rejected[row] + 0 "\t" throttled[row] + 0 "\t" failed[row] + 0 "\t" owner[part[2]]
      }
    }' | sort
}

# callers METHOD RESOURCE: counts the calls of an operation by key.
callers() {
  access_log 'filter method = "'"$1"'" and resource = "'"$2"'" and status like /^[245]/ and errorType != "ACCESS_DENIED"
    | stats count(*) as calls, fromMillis(max(@timestamp)) as last by keyId | sort calls desc'
}

# default_url_keys: counts the requests to API Gateway's `execute-api` host by key.
default_url_keys() {
  access_log 'filter domainName like /execute-api/ and keyId like /^key_/ and errorType != "ACCESS_DENIED"
    | stats count(*) as requests, fromMillis(max(@timestamp)) as last by keyId'
}

# old_tls_clients: counts the requests with TLS 1.2 by client.
old_tls_clients() {
  access_log 'filter tlsVersion like /1\.2/ | stats count(*) as requests by tlsVersion, cipherSuite, keyId, sourceIp'
}
