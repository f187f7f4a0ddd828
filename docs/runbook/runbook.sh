# Variables and functions for the commands in docs/runbook.md, for bash and zsh with AWS CLI version 2. Set STAGE,
# AWS_REGION and your AWS credentials before you source this file.

case "${STAGE-} ${AWS_REGION-}" in
  *PUT-*)
    echo 'Set STAGE and AWS_REGION to those of the stage that you want to operate, and run the block again.' >&2
    return 1
    ;;
esac

: "${AWS_REGION:?Set AWS_REGION first.}"
STACK=PetStore-${STAGE:?Set STAGE first.}
export AWS_PAGER=

## The stack

# changes_by_hand: compares the stack's resources with its template. This takes a few minutes.
# Output: a line for each resource that somebody changed or deleted by hand, with its type, its logical id, `MODIFIED`
# or `DELETED`, and the changed properties.
changes_by_hand() {
  local id
  id=$(aws cloudformation detect-stack-drift --stack-name "$STACK" --output text \
    --query StackDriftDetectionId) || return
  while aws cloudformation describe-stack-drift-detection-status --stack-drift-detection-id "$id" \
    --query DetectionStatus | grep -q IN_PROGRESS; do
    sleep 5
  done
  aws cloudformation describe-stack-drift-detection-status --stack-drift-detection-id "$id" --output text \
    --query "[DetectionStatusReason][?@]"
  aws cloudformation describe-stack-resource-drifts --stack-name "$STACK" --output text \
    --stack-resource-drift-status-filters MODIFIED DELETED --query "StackResourceDrifts[].[ResourceType,
      LogicalResourceId, StackResourceDriftStatus, to_string(PropertyDifferences[].PropertyPath)]"
}

# repair_access_log: makes the role in the stack `PetStore-account` API Gateway's logging role in this account and
# region.
# Output: API Gateway's settings of the account, with the role.
repair_access_log() {
  local role
  role=$(STACK=PetStore-account physical_id IAM::Role LogRole) &&
    role=$(aws iam get-role --role-name "$role" --query Role.Arn --output text) || return
  aws apigateway update-account --patch-operations "op=replace,path=/cloudwatchRoleArn,value=$role"
}

# leftovers: finds the functions, tables and log groups whose names contain the stack's name.
# Output: the names, a line for each type of resource.
leftovers() {
  aws lambda list-functions --output text --query "Functions[?starts_with(FunctionName, '$STACK-')].FunctionName"
  aws dynamodb list-tables --output text --query "TableNames[?starts_with(@, '$STACK-')]"
  aws logs describe-log-groups --log-group-name-pattern "$STACK-" --output text --query 'logGroups[].logGroupName'
}

## Tables

# database_latencies: reads the latencies of each table and type of database call in the last hour, in milliseconds.
# Output: `TABLE CALL:` and the output of `metric`, for each 5 minutes.
database_latencies() {
  local table call
  resources DynamoDB::GlobalTable | while read -r table; do
    for call in Query PutItem GetItem; do
      metric 300 DynamoDB SuccessfulRequestLatency "Name=TableName,Value=$table" "Name=Operation,Value=$call" |
        sed "s/^/$table $call: /"
    done
  done
}

# throttled_limits: counts the requests of the last hour that exceeded a limit of a table or an index.
# Output: `TABLE INDEX LIMIT:` and the output of `metric`, whose `sum` is the number of throttled requests.
throttled_limits() {
  local table index limit access
  resources DynamoDB::GlobalTable | while read -r table; do
    { echo; indexes "$table"; } | while read -r index; do
      for limit in MaxOnDemandThroughput KeyRangeThroughput AccountLimit; do
        for access in Read Write; do
          metric 3600 DynamoDB "$access${limit}ThrottleEvents" "Name=TableName,Value=$table" \
            ${index:+"Name=GlobalSecondaryIndexName,Value=$index"} | sed "s/^/$table $index $access$limit: /"
        done
      done
    done
  done
}

# complete_table TABLE: gives a table the settings of production that DynamoDB does not restore from a backup.
# Output: AWS's responses.
complete_table() {
  aws dynamodb update-continuous-backups --table-name "$1" \
    --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true,RecoveryPeriodInDays=35
  aws dynamodb update-table --table-name "$1" --deletion-protection-enabled
  if [ "$1" = "$RECORDS" ]; then
    aws dynamodb update-time-to-live --table-name "$1" \
      --time-to-live-specification Enabled=true,AttributeName=expiresAt
  fi
}

# old_tables NAME: finds the tables with this name that a deleted stack left behind, as in `old_tables ApiKeys`.
# DynamoDB counts items only every six hours, so the number of items can be out of date.
# Output: a line for each table, with its name, its number of items, and the time of its creation.
old_tables() {
  local new table
  new=$(table_id "$1") || return
  # The name of a table consists of the stack's name, the logical id and a random text, so the name of an old table
  # differs only in the random text.
  aws dynamodb list-tables --output text --query "TableNames[?starts_with(@, '${new%-*}-') && @ != '$new']" |
    tr '\t' '\n' | grep . | while read -r table; do
    aws dynamodb describe-table --table-name "$table" --output text \
      --query 'Table.[TableName,ItemCount,CreationDateTime]'
  done
}

## Parts of other commands

# physical_id TYPE NAME: finds the stack's resource of this type whose logical id consists of NAME and a hash of 8
# characters.
# Output: the resource's physical id.
physical_id() {
  if [ -z "$2" ]; then echo 'Set FUNCTION first, as in FUNCTION=Authorizer.' >&2; return 1; fi
  local length=$((${#2} + 8)) id
  local match="ResourceType=='AWS::$1' && starts_with(LogicalResourceId,'$2') && length(LogicalResourceId)==\`$length\`"
  # With `--output text`, the AWS CLI applies the query to each page of resources, so `| [0]` would print a line per page.
  id=$(aws cloudformation list-stack-resources --stack-name "$STACK" --output text \
    --query "StackResourceSummaries[?$match].PhysicalResourceId") || return
  if [ -z "$id" ]; then echo "$STACK has no AWS::$1 whose logical id is $2 and a hash." >&2; return 1; fi
  echo "$id"
}

# resources TYPE: finds all resources of the stack that have this type.
# Output: a physical id per line.
resources() {
  aws cloudformation list-stack-resources --stack-name "$STACK" --output text \
    --query "StackResourceSummaries[?ResourceType=='AWS::$1'].PhysicalResourceId" | tr '\t' '\n' | grep .
}

# table_id NAME: finds a table of the stack by its short name, such as ApiKeys.
# Output: the table's full name.
table_id() { physical_id DynamoDB::GlobalTable "Storage$1"; }

# indexes TABLE: finds a table's indexes.
# Output: a name per line.
indexes() {
  aws dynamodb describe-table --table-name "$1" --query 'Table.GlobalSecondaryIndexes[].[IndexName]' --output text |
    grep -v None
}

# with_key ARGUMENT ...: runs `curl` with `$API_KEY`. `curl` reads the key from a file descriptor, because all users of
# a machine can see the arguments of its processes.
# Output: what `curl` prints.
with_key() {
  if [ -z "${API_KEY-}" ]; then echo 'Set API_KEY first, to an API key of the stage.' >&2; return 1; fi
  curl -H @<(printf 'Authorization: Bearer %s\n' "$API_KEY") "$@"
}

# insights LOG QUERY: runs a Logs Insights query on the log group whose logical id starts with LOG.
# Output: `FIELD=VALUE` pairs, a line for each result.
insights() {
  local group id since=$(($(date +%s) - ${MINUTES:-60} * 60))
  group=$(physical_id Logs::LogGroup "$1") || return
  id=$(aws logs start-query --log-group-names "$group" --start-time "$since" --end-time "$(date +%s)" \
    --query-string "$2" --query queryId --output text) || return
  while aws logs get-query-results --query-id "$id" --query status | grep -qE 'Scheduled|Running'; do
    sleep 2
  done
  aws logs get-query-results --query-id "$id" --output text \
    --query "results[*][?field!='@ptr'].join('=', [field, value])" |
    tr -d '\000-\010\013-\037\177' # Clients choose some values, and control characters could change the terminal.
}

# metric SECONDS NAMESPACE NAME [DIMENSION ...]: reads a metric of AWS/NAMESPACE for each period of SECONDS in the last
# hour. A DIMENSION has the form Name=NAME,Value=VALUE.
# Output: `TIME average A maximum M sum S` for each period.
metric() {
  local period=$1 namespace=$2 name=$3 now
  now=$(date +%s)
  shift 3
  aws cloudwatch get-metric-statistics --namespace "AWS/$namespace" --metric-name "$name" --period "$period" \
    --statistics Average Maximum Sum --start-time "$((now - 3600))" --end-time "$now" ${1:+--dimensions} "$@" \
    --output text --query "sort_by(Datapoints,&Timestamp)[].join(' ', [to_string(Timestamp),
      'average', to_string(Average), 'maximum', to_string(Maximum), 'sum', to_string(Sum)])" | tr '\t' '\n'
}

API=$(physical_id ApiGateway::RestApi ApiRestApi)
API_STAGE=arn:aws:apigateway:$AWS_REGION::/restapis/$API/stages/$STAGE
RECORDS=$(table_id IdempotencyRecords)
KEYS=$(table_id ApiKeys)
BASE_URL=$(aws cloudformation describe-stacks --stack-name "$STACK" --output text \
  --query "Stacks[0].Outputs[?OutputKey=='BaseUrl'].OutputValue")
DASHBOARD=$(physical_id CloudWatch::Dashboard Dashboard)
echo "https://console.aws.amazon.com/cloudwatch/home?region=$AWS_REGION#dashboards/dashboard/$DASHBOARD"
