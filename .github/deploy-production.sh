#!/usr/bin/env bash
# Deploys cdk.out to production, and probes production before, during and after the deployment.
#
#   .github/deploy-production.sh
#
# CloudFormation rolls back the deployment if the alarm ApiServerErrors, ApiRejectedRequests or FirewallBlocks fires
# during the deployment or the next five minutes. If the probe fails in this time, the script cancels the deployment.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-rollback-triggers.html
set -euo pipefail
stack=PetStore-production
# SIGTERM makes the probe revoke its key. The script runs the probe without npm, because npm does not forward SIGTERM.
probe=(node --require ./infra/require-node.cjs infra/operate/smoke.ts --stage production --read-only)

deploy() { npx cdk deploy "$@" --exclusively --app cdk.out --require-approval never --progress events; }
fail() {
  echo "$1" >&2
  exit 1
}
resources() {
  aws cloudformation list-stack-resources --stack-name "$stack" --output text \
    --query "StackResourceSummaries[?ResourceType=='AWS::CodeDeploy::$1'].PhysicalResourceId"
}
# Stops the canaries explicitly, because AWS does not document whether canceling an update also stops its canaries.
stop_canaries() {
  local application group id
  application=$(resources Application)
  for group in $(resources DeploymentGroup); do
    for id in $(aws deploy list-deployments --application-name "$application" --deployment-group-name "$group" \
      --include-only-statuses Created Queued InProgress --query 'deployments[]' --output text); do
      aws deploy stop-deployment --deployment-id "$id" --auto-rollback-enabled
    done
  done
}

alarms=$(aws cloudwatch describe-alarms --alarm-name-prefix "$stack-Monitoring" --output text --query "MetricAlarms[?
  contains(AlarmName, 'ApiServerErrors') || contains(AlarmName, 'ApiRejectedRequests') ||
  contains(AlarmName, 'FirewallBlocks')].AlarmArn")
[[ $alarms ]] || fail "$stack has no rollback alarms. Follow 'First deploy' in docs/runbook.md."
triggers=()
for arn in $alarms; do triggers+=(--rollback-trigger-alarm-arns "$arn"); done
node --require ./infra/require-node.cjs infra/operate/epochs.ts --stage production ||
  fail 'Nothing was deployed. See "Change the number of list partitions" in docs/runbook.md.'
"${probe[@]}" || fail 'The probe failed, so nothing was deployed. Check production, and re-run the job.'

# The account stack is deployed without rollback alarms, because all stages share it. CloudFormation would otherwise use
# production's alarms for every later deployment of the account stack.
deploy PetStore-account
deploy "$stack" "${triggers[@]}" --monitoring-time-minutes 5 &
deployment=$!
"${probe[@]}" --for 50m &
probing=$!
by_hand='The new version is deployed, but the probe failed. Follow "Rollback by hand" in docs/runbook.md.'
wait -n "$deployment" "$probing" || true
if kill -0 "$deployment" 2> /dev/null && ! wait "$probing"; then
  # Repeats the cancellation until CloudFormation accepts it, because CloudFormation rejects it before the update
  # starts. The loop also stops when the deployment ends.
  until aws cloudformation cancel-update-stack --stack-name "$stack" || ! kill -0 "$deployment"; do sleep 10; done
  stop_canaries || echo 'Some canaries could not be stopped.' >&2
  wait "$deployment" && fail "$by_hand"
  fail 'The deployment was canceled, because the probe failed. See "Failed rollbacks" in docs/runbook.md.'
fi
kill "$probing" 2> /dev/null || true
wait "$probing" || true
wait "$deployment"
"${probe[@]}" --for 1m || fail "$by_hand"
