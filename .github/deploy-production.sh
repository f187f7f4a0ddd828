#!/usr/bin/env bash
# Deploys production from cdk.out and probes it before, during and after the deployment.
#
#   .github/deploy-production.sh
#
# CloudFormation rolls back the deployment if an alarm fires before five minutes have passed since the last change. The
# script cancels the deployment if the probe fails.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-rollback-triggers.html
set -euo pipefail
stack=PetStore-production

deploy() { npx cdk deploy "$@" --exclusively --app cdk.out --require-approval never --progress events; }
probe() { npm run smoke -- --stage production --read-only "$@"; }
is_running() { kill -0 "$1" 2> /dev/null; }
resources() {
  aws cloudformation list-stack-resources --stack-name "$stack" --output text \
    --query "StackResourceSummaries[?ResourceType=='AWS::CodeDeploy::$1'].PhysicalResourceId"
}
# AWS does not document whether the cancellation of an update also stops the canaries that the update has started.
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
fail() {
  echo "$1" >&2
  exit 1
}

# CloudFormation keeps the alarms of a stack for later deployments, so the stack that all stages share gets none.
deploy PetStore-account

if ! output=$(aws cloudformation describe-stacks --stack-name "$stack" 2>&1); then
  [[ $output == *'does not exist'* ]] || fail "$output"
  deploy "$stack"
  probe
  exit
fi

triggers=()
alarms=$(aws cloudwatch describe-alarms --alarm-name-prefix "$stack-Monitoring" --output text --query "MetricAlarms[?
  contains(AlarmName, 'ApiServerErrors') || contains(AlarmName, 'ApiRejectedRequests') ||
  contains(AlarmName, 'FirewallBlocks')].AlarmArn")
for arn in $alarms; do triggers+=(--rollback-trigger-alarm-arns "$arn"); done
[[ ${triggers[*]} ]] || fail "The stack $stack has no alarm that rolls back deployments, so nothing was deployed."
probe || fail 'Production failed before the deployment, so nothing was deployed.'

deploy "$stack" "${triggers[@]}" --monitoring-time-minutes 5 &
deployment=$!
by_hand='The new version is deployed, but the probe failed. Follow "Rollback by hand" in docs/runbook.md.'
while is_running "$deployment"; do
  probe --for 1m && continue
  # CloudFormation rejects this before the update starts and after it ends.
  until aws cloudformation cancel-update-stack --stack-name "$stack" || ! is_running "$deployment"; do sleep 10; done
  stop_canaries || echo 'Some canaries could not be stopped.' >&2
  wait "$deployment" && fail "$by_hand"
  fail 'The deployment was canceled, because the probe failed. Follow "Stop a deployment" in docs/runbook.md.'
done
wait "$deployment"
probe --for 1m || fail "$by_hand"
