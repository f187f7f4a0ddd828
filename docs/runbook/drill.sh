# Commands of the drill in docs/runbook.md. drill_requests and drill_watch also need runbook.sh.

# drill ACTION: deploys or destroys the stage "drill".
drill() { npx cdk "$1" PetStore-drill -c stage=drill -c based-on=production; }

# drill_change SOURCE CODE: deploys a version of the function in the file SOURCE that also runs CODE when Lambda loads it,
# and then restores the file.
drill_change() {
  echo "$2" >> "$1"
  drill deploy
  git checkout "$1"
}

# drill_requests PATH: issues an API key, and sends two requests per second to PATH in the background.
drill_requests() {
  local url=$BASE_URL$1
  API_KEY=$(npm run --silent keys -- issue --stage drill --owner "drill" --expires-in 3h --quiet)
  STATUSES=$(mktemp)
  while sleep 0.5; do
    curl -s -o /dev/null -w '%{http_code}\n' "$url" -H "Authorization: Bearer $API_KEY"
  done >> "$STATUSES" &
  LOOP=$!
}

# drill_statuses: counts the statuses of the responses since the last call.
drill_statuses() {
  sort "$STATUSES" | uniq -c
  : > "$STATUSES"
}

# drill_watch FUNCTION: every 20 seconds, prints the output of status and the live versions of a function.
drill_watch() {
  while sleep 20; do
    date +%T
    status
    aws lambda get-alias --function-name "$(physical_id Lambda::Function "$1")" --name live --output json \
      --query '[FunctionVersion,RoutingConfig.AdditionalVersionWeights]'
  done
}

# drill_end: stops the requests and destroys the stage.
drill_end() {
  kill "$LOOP"
  rm "$STATUSES"
  drill destroy
}
