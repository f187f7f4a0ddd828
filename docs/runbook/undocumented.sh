#!/usr/bin/env bash
# Checks behavior that the service depends on, but that AWS does not document. Export STAGE, AWS_REGION, your AWS
# credentials, and LIST_PATH and LIST_FUNCTION, which are the path and the function of a list. The checks take 25
# minutes. Compare each result with the expectation printed above it.

refuse() {
  echo "$1" >&2
  exit 1
}

# In a shell that sources this file, the trap below would not run after Ctrl-C, so the function would stay blocked.
if [ "${BASH_SOURCE:-}" != "$0" ]; then
  echo 'Run this script instead of sourcing it: bash docs/runbook/undocumented.sh' >&2
  return 1
fi
: "${LIST_PATH:?Set LIST_PATH first.}" "${LIST_FUNCTION:?Set LIST_FUNCTION first.}"
[ "${STAGE:-}" != production ] || refuse 'The checks block a function, so run them in staging or in the drill stage.'
. docs/runbook/queries.sh
. docs/runbook/runbook.sh || exit
PROTECTION=$(aws cloudformation describe-stacks --stack-name "$STACK" --output text \
  --query 'Stacks[0].EnableTerminationProtection')
[ "$PROTECTION" = False ] ||
  refuse "The checks block a function, so run them in a stage whose stack has no termination protection, unlike $STACK."

# unblock: lets the function serve requests again if this script has blocked it.
BLOCKED=
unblock() {
  [ -n "$BLOCKED" ] || return 0
  aws lambda delete-function-concurrency --function-name "$BLOCKED" && BLOCKED= && return
  echo "$BLOCKED still serves no requests. Run: aws lambda delete-function-concurrency --function-name $BLOCKED" >&2
}
trap 'exit 130' HUP INT TERM
# A second Ctrl-C must not stop the command that unblocks the function.
trap 'trap "" HUP INT TERM; unblock' EXIT

expect() { printf '\n%s\n' "$1"; }

KEY_START=pets_${STAGE}_
API_KEY=$(npm run --silent keys -- issue --stage "$STAGE" --owner "first deployment" --expires-in 1h --quiet)
EXPIRED_KEY=$(npm run --silent keys -- issue --stage "$STAGE" --owner "first deployment" --expires-in 1m --quiet)
JSON='Content-Type: application/json'
send() { API_KEY=${SENT_KEY:-$API_KEY} with_key -sS -w ' %{http_code} %{content_type}\n' "$@"; }

expect 'Large body: any error response. A query below shows whether clients can cause 5xx responses.'
{ printf '{"text":"'; head -c 8000000 /dev/zero | tr '\0' x; printf '"}'; } |
  send "$BASE_URL$LIST_PATH" -o /dev/null -H "$JSON" --data-binary @-

expect 'Malformed URLs: 400, as in "Responses without an Error body" in docs/interface.md.'
for suffix in '%zz' '%' '{1}' '%00' '1%2F2'; do send -g "$BASE_URL$LIST_PATH/$suffix"; done

expect 'Compressed body: 415. If the status is 400, API Gateway decompresses bodies and removes Content-Encoding. Two
smoke tests then fail, and you can allow compressed bodies in shared/runtime/request.ts.'
echo '{}' | gzip | send "$BASE_URL$LIST_PATH" -H "$JSON" -H 'Content-Encoding: gzip' --data-binary @-

expect 'Throttled function: 503. If the status is 500, correct shared/contract/gateway-responses.ts.'
BLOCKED=$(physical_id Lambda::Function "$LIST_FUNCTION")
aws lambda put-function-concurrency --function-name "$BLOCKED" --reserved-concurrent-executions 0 &&
  send "$BASE_URL$LIST_PATH"
unblock

expect 'Firewall: if the web ACL blocks, a 413 with the header x-amzn-RequestId, and a 403. Otherwise, a 401 and a 404.'
head -c 65537 /dev/zero |
  SENT_KEY="${KEY_START}made_up" send "$BASE_URL$LIST_PATH" -D - -H "$JSON" --data-binary @-
SENT_KEY="${KEY_START}made_up" send "$BASE_URL/web-inf" -D -

expect 'Requests that the queries below count: five statuses 200, and then 21 statuses 401.'
trace_id() { echo "1-$(printf %x "$(date +%s)")-$(head -c 12 /dev/urandom | od -An -tx1 | tr -d ' \n')"; }
TRACES=() KEYLESS_TRACES=()
for _ in {1..5}; do
  TRACE=$(trace_id)
  send "$BASE_URL$LIST_PATH" -o /dev/null -H "X-Amzn-Trace-Id: Root=$TRACE;Sampled=1"; TRACES+=("$TRACE")
  TRACE=$(trace_id)
  curl -sS "$BASE_URL/none" -o /dev/null -H "X-Amzn-Trace-Id: Root=$TRACE;Sampled=1"; KEYLESS_TRACES+=("$TRACE")
done
curl -sS "$BASE_URL/none" -o /dev/null -H 'X-Amzn-Trace-Id: Root=1-"quoted";Sampled=0'

INVALID=$KEY_START$(head -c 36 /dev/zero | tr '\0' a)
for _ in {1..20}; do SENT_KEY=$INVALID send "$BASE_URL$LIST_PATH" -o /dev/null; done
sleep 60
SENT_KEY=$EXPIRED_KEY send "$BASE_URL$LIST_PATH" -o /dev/null
aws cloudwatch set-alarm-state --state-value ALARM --state-reason 'Test of the return to OK' \
  --alarm-name "$(physical_id CloudWatch::Alarm MonitoringApiKeysThrottles)"

expect 'Changes by hand: nothing, unless somebody has changed the stack. If AWS reports the values of the template in
another form, deploy with --ignore-changes, and make driftOf in infra/operate/deploy/stack.ts ignore these properties.'
changes_by_hand

expect 'Types that CloudFormation does not compare: npm run deploy does not find changes of these resources by hand.
If the list contains AWS::Lambda::Permission, correct "Function errors" in docs/runbook.md.'
aws cloudformation list-stack-resources --stack-name "$STACK" --output text \
  --query "StackResourceSummaries[?DriftInformation.StackResourceDriftStatus=='NOT_CHECKED'].[ResourceType]" | sort -u

echo 'Waiting for logs, metrics and alarms …'
sleep 900

expect 'Access log: a row for each status above. The 503 has the errorType INTEGRATION_FAILURE, and requests that the
web ACL blocked have WAF_FILTERED. A POST with a 5xx status must have the integrationStatus 413. Otherwise, correct
the filter ServerErrors in infra/stack/access-log.ts, because clients can make ApiServerErrors fire.'
access_log 'stats count(*) as requests by method, status, errorType, integrationStatus'

expect 'Denied keys: one request with a key that expired. If there is none, the access log does not contain the context of
a denial, so operators cannot inform the owners of denied keys.'
denied_keys

expect 'Logged requests: sums that together are about the number of requests in the access log. If there are no sums,
remove the alarm MissingAccessLog, because CloudWatch does not count what API Gateway logs.'
metric 300 Logs IncomingLogEvents "Name=LogGroupName,Value=$(physical_id Logs::LogGroup ApiAccessLog)"

expect 'Missing trace ids: 0 requests. Otherwise, find_trace finds only requests that X-Ray recorded.'
access_log 'filter not ispresent(traceId) or traceId = "-" | stats count(*) as requests'

expect 'Requested traces: two numbers below 5, depending on tracedShare. If the first number is 5, clients can increase the
charge for traces with a header. If the second number is 5, anyone can do so without a key. In both cases, set
tracingEnabled to false in infra/stack/api.ts, and correct "Threats" in docs/security.md and the traces in
docs/scaling-and-cost.md.'
aws xray batch-get-traces --trace-ids "${TRACES[@]}" --query 'length(Traces)'
aws xray batch-get-traces --trace-ids "${KEYLESS_TRACES[@]}" --query 'length(Traces)'

expect 'Lines that are not JSON: 0. Otherwise, API Gateway does not escape the quote in a trace id, and clients can hide
requests from queries and metrics. Remove traceId from infra/stack/access-log.ts.'
access_log 'filter not ispresent(extendedRequestId) | stats count(*) as requests'

expect 'Percentiles: numbers, although the access log contains the latencies as text.'
latencies

expect 'Cached denials: two or three invocations of the authorizer in the minute of the 20 requests with an invalid key.
If there are more, API Gateway does not cache denials, and each request with a made-up key costs an invocation.'
metric 60 Lambda Invocations "Name=FunctionName,Value=$(physical_id Lambda::Function Authorizer)"

expect 'Alarms without data: no active alarm. If ApiKeysThrottles is active, correct the expression in
infra/stack/storage.ts, because the alarm does not recover without data.'
status

expect 'Firewall log: withKey is 0 for LargeBody and KnownBadInputsRuleSet, because AWS WAF removes keys from the log.
Repeat this query after a client has exceeded PerKey, because log lines of PerKey also contain the key that exceeded
the limit.'
keys_in_firewall_log() {
  firewall_log 'stats count(*) as requests, sum(strcontains(@message, "'"$1"'")) as withKey
    by terminatingRuleId, nonTerminatingMatchingRules.0.ruleId'
}
keys_in_firewall_log "$KEY_START"

expect 'Quotas: the settings of the stage. If a setting exceeds a default quota, AWS may have stored the quota instead.'
aws dynamodb describe-table --table-name "$KEYS" --query Table.OnDemandThroughput
aws apigateway get-stage --rest-api-id "$API" --stage-name "$STAGE" --query methodSettings

expect 'Source account: AssumeRole events of Lambda and API Gateway. If events contain aws:SourceAccount, replace
StringEqualsIfExists with StringEquals in infra/stack/roles.ts.'
aws cloudtrail lookup-events --max-items 500 --output text --query 'Events[].CloudTrailEvent' \
  --lookup-attributes AttributeKey=EventName,AttributeValue=AssumeRole |
  tr '\t' '\n' | grep -E '(lambda|apigateway)\.amazonaws\.com'

npm run smoke -- --stage "$STAGE" --read-only --for 3m
sleep 240
expect 'Probe: nearly 60 invocations of the authorizer in each minute of the probe. If there are far fewer, API Gateway
ignores the number of spaces after Bearer, so the probe in infra/operate/probe.ts hardly tests a new authorizer.'
metric 60 Lambda Invocations "Name=FunctionName,Value=$(physical_id Lambda::Function Authorizer)"

expect 'Check these assumptions by hand:
- Permissions of the pipeline: if the first run of the workflow prints "CloudFormation could not compare all
  resources" or "is not authorized", add the actions in the message to docs/policies/deploy-role-checks.json.
- Shift of the requests: in step 5 of the drill, when 10% of the requests go to the new versions, compare two versions
  with
  metric 60 Lambda Invocations Name=FunctionName,Value=NAME Name=Resource,Value=NAME:live Name=ExecutedVersion,Value=8
  At two requests per second, the new version has about 12 invocations a minute, and 120 in ten minutes. If it has far
  more, Lambda routes less precisely than infra/operate/deploy/comparison.ts assumes, so raise MIN_RATIO there.
- Crashes of a version: in step 3 of the drill, the same command with Errors instead of Invocations must count crashes
  of the new version only. Otherwise, correct the dimensions in infra/operate/deploy/canary.ts.
- Cancellation: in step 6 of the drill, also press Ctrl-C when all resources have been updated and CloudFormation
  waits for five minutes. The status must become UPDATE_ROLLBACK_COMPLETE. Do this again while ReleaseServerErrors is
  active (aws cloudwatch set-alarm-state), so that CloudFormation waits without watching an alarm. If CloudFormation
  does not wait, or rejects the cancellation, correct what docs/pipelines.md says about the update of the stack.
- Undoing changes by hand: in the drill stage, find the id of a statement (Sid) with
  aws lambda get-policy --function-name NAME --qualifier live --query Policy
  and remove it with aws lambda remove-permission --function-name NAME --qualifier live --statement-id SID.
  changes_by_hand must print a deleted AWS::Lambda::Permission, and "Undo changes by hand" in docs/runbook.md must
  restore it.
- Recovery settings: deploy a change to maxReadUnitsPerSecond alone. If CloudTrail contains a new event
  UpdateContinuousBackups, correct docs/pipelines.md, because the policy pet-store-keep-data rejects such deployments.
- Events: lower and restore a setting in a deployment that you cancel. NoticeTopic must mail the status
  UPDATE_ROLLBACK_IN_PROGRESS. Otherwise, the metric FailedInvocations of the rule FailedUpdate shows whether the topic
  rejects events.
- Names of services: with a support plan, aws health describe-event-types --region us-east-1 must know the names of
  SERVICES in infra/stack/event-rules.ts.
- Custom domain: in the first stage with a domain, check both base URLs. AWS documents the access mode STRICT for an API
  and for a domain, but not for a stage with both host names:
  https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-security-policies.html'
