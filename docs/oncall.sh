#!/bin/sh
# Commands for whoever is on call. They need AWS CLI 2 and no clone. Set your AWS credentials, and then:
#
#   export STAGE=production AWS_REGION=eu-central-1
#   sh oncall.sh status      shows the stack, active alarms, running deployments, and the versions of the functions
#   sh oncall.sh back        stops running deployments, or else points each function to the version before the last update
#   sh oncall.sh query       lists the queries of the stage's logs
#   sh oncall.sh query NAME [WORD]
#                            runs a query over the last hour, or the last MINUTES minutes if this variable is exported
#   sh oncall.sh commands    prints AWS commands for this stage, to copy

script=$0

fail() {
  printf '%s\n' "$1" >&2
  exit 1
}

# Removes control bytes, with which texts that others have stored could change the terminal.
plain() { LC_ALL=C tr -d '\000-\010\013-\037\177-\377'; }

# Prints the response to an AWS request, a line for each row, and fails if AWS does.
ask() {
  response=$(aws "$@" --output text < /dev/null) || return 1
  printf '%s\n' "$response" | plain
}

case $#:${1-} in
  1:status | 1:back | [123]:query | 1:commands) ;;
  *) fail "Usage: sh $script status | back | query [NAME [WORD]] | commands" ;;
esac
command -v aws > /dev/null || fail 'Install AWS CLI 2.'
[ -n "${STAGE-}" ] || fail 'Set STAGE to the name of the stage, as in: export STAGE=production'
[ -n "${AWS_REGION-}" ] || fail 'Set AWS_REGION to the region of the stage, as in: export AWS_REGION=eu-central-1'
case $STAGE$AWS_REGION in
  *PUT-*) fail 'Set STAGE and AWS_REGION to those of the stage.' ;;
esac
export AWS_PAGER=
stack=PetStore-$STAGE

identity=$(ask sts get-caller-identity --query '[Account,Arn]') ||
  fail 'Set your AWS credentials, for example with AWS_PROFILE.'
update=$(ask cloudformation describe-stacks --stack-name "$stack" \
  --query 'Stacks[0].[StackStatus,LastUpdatedTime||CreationTime,StackStatusReason]') ||
  fail "Check STAGE, AWS_REGION and your credentials: $stack cannot be read."
# A reason can have several lines.
stack_status=$(printf '%s\n' "$update" | head -n 1 | cut -f 1)
updated_at=$(printf '%s\n' "$update" | head -n 1 | cut -f 2)
reason=$(printf '%s\n' "$update" | head -n 1 | cut -f 3)
resources=$(ask cloudformation list-stack-resources --stack-name "$stack" \
  --query 'StackResourceSummaries[].[ResourceType,PhysicalResourceId]') ||
  fail "The resources of $stack cannot be read."

# Prints the physical ids of the stack's resources of a type.
ids() { printf '%s\n' "$resources" | awk -v type="AWS::$1" '$1 == type { print $2 }'; }

# Prints the names of the functions that have an alias. The id of an alias is its ARN, which ends with NAME:live.
functions() { ids Lambda::Alias | awk -F : '{ print $(NF - 1) }'; }

# Prints the id of each running deployment, and its group.
deployments() {
  ids CodeDeploy::DeploymentGroup | while read -r group; do
    running=$(ask deploy list-deployments --application-name "$(ids CodeDeploy::Application)" \
      --deployment-group-name "$group" --include-only-statuses Created Queued InProgress Ready \
      --query 'deployments[].[@]') || exit 1
    printf '%s\n' "$running" | awk -v group="$group" 'NF { print $1, group }'
  done
}

# Prints a line for each function: its name, the live version and its time, the version before and its time, the revision
# of the alias, whether the live version is of the last update (1 or 0), and the shares of other versions, such as
# {"8":0.1}, or null.
versions() {
  functions | while read -r name; do
    live=$(ask lambda get-alias --function-name "$name" --name live \
      --query "[FunctionVersion,RevisionId,to_string(RoutingConfig.AdditionalVersionWeights || \`null\`)]") || exit 1
    all=$(ask lambda list-versions-by-function --function-name "$name" \
      --query 'Versions[].[Version,LastModified]') || exit 1
    printf '%s\n' "$all" | awk -v name="$name" -v live="$live" -v updated_at="$updated_at" '
      BEGIN { split(live, alias, "\t"); before = "-"; earlier = "-" }
      $1 == alias[1] { time = $2 }
      $1 + 0 > before + 0 && $1 + 0 < alias[1] + 0 { before = $1; earlier = $2 }
      END {
        if (time == "") exit 1
        # Both times are in UTC, and can differ after the seconds in their format.
        is_new = substr(time, 1, 19) >= substr(updated_at, 1, 19)
        print name, alias[1], time, before, earlier, alias[2], is_new, alias[3]
      }' || exit 1
  done
}

show_status() {
  printf 'Account and identity: %s\n' "$identity"
  printf '%s: %s, last update began at %s (reason: %s)\n' "$stack" "$stack_status" "$updated_at" "$reason"
  printf 'Active alarms:\n'
  active=$(ask cloudwatch describe-alarms --alarm-name-prefix "$stack-" --state-value ALARM \
    --query 'MetricAlarms[].[AlarmName,StateUpdatedTimestamp,AlarmDescription]') || printf '  They cannot be read.\n'
  [ -z "$active" ] || printf '%s\n' "$active" | sed 's/^/  /'
  printf 'Running deployments:\n'
  running=$(deployments) || printf '  They cannot be read.\n'
  [ -z "$running" ] || printf '%s\n' "$running" | sed 's/^/  /'
  printf 'Versions:\n'
  lines=$(versions) || printf '  Some cannot be read.\n'
  [ -z "$lines" ] || printf '%s\n' "$lines" | while read -r name live time before earlier _ _ shares; do
    printf '  %s: %s (%s), before %s (%s)' "$name" "$live" "$time" "$before" "$earlier"
    if [ "$shares" = null ]; then printf '\n'; else printf ', shares %s\n' "$shares"; fi
  done
}

# Prints what `go_back` does, a line for each step: what it concerns, the version, the revision, and a sentence.
plan() {
  running=$(deployments) || exit 1
  if [ -n "$running" ]; then
    printf '%s\n' "$running" | while read -r id group; do
      printf 'stop %s - stop the deployment of %s, so that its requests go to the old version\n' "$id" "$group"
    done
    return
  fi
  lines=$(versions) || exit 1
  printf '%s\n' "$lines" | while read -r name live time before earlier revision is_new shares; do
    if [ "$shares" != null ]; then
      printf '%s %s %s give all requests to %s (%s)\n' "$name" "$live" "$revision" "$live" "$time"
    elif [ "$before" != - ] && [ "$is_new" = 1 ]; then
      printf '%s %s %s from %s (%s) to %s (%s)\n' "$name" "$before" "$revision" "$live" "$time" "$before" "$earlier"
    fi
  done
}

go_back() {
  steps=$(plan) || fail 'Not all deployments and versions can be read, so nothing was changed.'
  if [ -z "$steps" ]; then
    fail "Nothing to do: no function got a new version since $updated_at, when the last update of $stack began. To use
another version, see: sh $script commands"
  fi
  # The deployments of a rollback must not be stopped.
  case $stack_status:$steps in
    UPDATE_IN_PROGRESS:stop* | UPDATE_COMPLETE_CLEANUP_IN_PROGRESS:*) ;;
    *_IN_PROGRESS:*) fail "$stack has the status $stack_status. Wait until it has ended, and try again." ;;
  esac
  printf 'In %s, as %s:\n' "$stack" "$identity"
  printf '%s\n' "$steps" | while read -r what version revision sentence; do
    if [ "$what" = stop ]; then printf '  %s: %s\n' "$version" "$sentence"; else printf '  %s: %s\n' "$what" "$sentence"; fi
  done
  case $stack_status:$steps in
    UPDATE_IN_PROGRESS:stop*) printf 'CloudFormation then rolls back the whole update.' ;;
    *) printf 'Other functions stay as they are.' ;;
  esac
  printf ' The cache of the authorizer is flushed.\nType yes to do this: '
  read -r answer || answer=
  [ "$answer" = yes ] || fail 'Nothing was changed.'
  failed=$(printf '%s\n' "$steps" | while read -r what version revision _; do
    if [ "$what" = stop ]; then
      aws deploy stop-deployment --deployment-id "$version" --auto-rollback-enabled > /dev/null < /dev/null ||
        printf ' %s' "$version"
    else
      aws lambda update-alias --function-name "$what" --name live --function-version "$version" \
        --routing-config 'AdditionalVersionWeights={}' --revision-id "$revision" > /dev/null < /dev/null ||
        printf ' %s' "$what"
    fi
  done)
  aws apigateway flush-stage-authorizers-cache --rest-api-id "$(ids ApiGateway::RestApi)" \
    --stage-name "$(ids ApiGateway::Stage)" ||
    printf 'The cache of the authorizer was not flushed. To flush it, see: sh %s commands\n' "$script" >&2
  [ -z "$failed" ] || fail "Failed:$failed. Run this command again, or use: sh $script commands"
  case $stack_status:$steps in
    UPDATE_IN_PROGRESS:stop*) printf 'Done. CloudFormation rolls back the update.\n' ;;
    *:stop*) printf 'Done.\n' ;;
    *) printf 'Done. Before the next deployment, read "Going back" in docs/deploy.md.\n' ;;
  esac
}

# Prints the names of the stage's queries, or the results of a query, a line for each.
run_query() {
  names=$(ask logs describe-query-definitions --query-definition-name-prefix "$stack/" \
    --query 'queryDefinitions[].[name]') || fail 'The queries cannot be read.'
  names=$(printf '%s\n' "$names" | sed "s|^$stack/||")
  printf '%s\n' "$names" | grep -qxF -e "${1:--}" || {
    [ -z "${1-}" ] || printf 'There is no query %s. Choose one of these:\n' "$1" | plain >&2
    printf '%s\n' "$names"
    [ -z "${1-}" ] || exit 1
    return
  }
  case ${2-} in *[!A-Za-z0-9_=-]*) fail 'WORD must be an id, such as that of a request or a key.' ;; esac
  case ${MINUTES:=60} in 0* | *[!0-9]*) fail 'Set MINUTES to a number of minutes, such as 1440 for a day.' ;; esac
  definition=$(ask logs describe-query-definitions --query-definition-name-prefix "$stack/$1" \
    --query "queryDefinitions[?name=='$stack/$1'].[to_string(logGroupNames),queryString]") ||
    fail 'The query cannot be read.'
  groups=$(printf '%s\n' "$definition" | head -n 1 | cut -f 1)
  # The text has several lines. The groups are only before the first one.
  text=$(printf '%s\n' "$definition" | cut -f 2-)
  case $text:${2-} in
    *PUT-*-HERE*:) fail "Append what the query looks for, as in: sh $script query $1 ID" ;;
    *PUT-*-HERE*) text=$(printf '%s\n' "$text" | sed "s/PUT-[A-Z-]*-HERE/$2/g") ;;
    *:?*) fail "The query $1 looks for nothing, so leave $2 out." ;;
  esac
  now=$(date +%s)
  id=$(ask logs start-query --log-group-names "$groups" --start-time "$((now - MINUTES * 60))" --end-time "$now" \
    --query-string "$text" --query queryId) || fail 'The query cannot be started.'
  while :; do
    state=$(ask logs get-query-results --query-id "$id" --query status) || fail 'The query cannot be read.'
    case $state in
      Complete) break ;;
      Scheduled | Running) sleep 2 ;;
      *) fail "The query has ended with the status $state." ;;
    esac
  done
  ask logs get-query-results --query-id "$id" --query "results[*][?field!='@ptr'].join('=', [field, value])"
}

show_commands() {
  cat << END
# Stop a deployment, whose id status shows:
aws deploy stop-deployment --auto-rollback-enabled --deployment-id ID
# Find the versions of a function, and point it to one of them:
END
  functions | while read -r name; do
    printf "aws lambda list-versions-by-function --query 'Versions[].[Version,LastModified]' --output text --function-name %s\n" \
      "$name"
    printf "aws lambda update-alias --name live --routing-config 'AdditionalVersionWeights={}' --function-version VERSION --function-name %s\n" \
      "$name"
  done
  cat << END
# Make API Gateway forget the decisions of the authorizer:
aws apigateway flush-stage-authorizers-cache --rest-api-id $(ids ApiGateway::RestApi) --stage-name $(ids ApiGateway::Stage)
# Continue a rollback of the stack that has failed:
aws cloudformation continue-update-rollback --stack-name $stack
# Follow a log:
END
  ids Logs::LogGroup | while read -r group; do printf 'aws logs tail --follow --since 1h %s\n' "$group"; done
}

case $1 in
  status) show_status ;;
  back) go_back ;;
  query) run_query "${2-}" "${3-}" ;;
  commands) show_commands ;;
esac
