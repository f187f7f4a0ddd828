# Commands of the drill in docs/runbook.md. drill_requests and drill_watch also need runbook.sh.

# The function that the drill changes, and the path of its requests. In a stage without data, the status must be 404.
DRILL_SOURCE=functions/get-pet.ts
DRILL_PATH=/pets/1
drill_function() {
  physical_id Lambda::Function GetPet
}

# drill ACTION: deploys or destroys the stage "drill".
drill() { npx cdk "$1" PetStore-drill -c stage=drill -c based-on=production; }

# drill_change CODE: deploys a version of the function that also runs CODE when Lambda loads it, and then restores the
# source.
drill_change() {
  echo "$1" >> "$DRILL_SOURCE"
  drill deploy
  git checkout "$DRILL_SOURCE"
}

# drill_requests: issues an API key, and sends two requests per second in the background.
drill_requests() {
  API_KEY=$(npm run --silent keys -- issue --stage drill --owner "drill" --expires-in 3h --quiet)
  STATUSES=$(mktemp)
  while sleep 0.5; do
    curl -s -o /dev/null -w '%{http_code}\n' "$BASE_URL$DRILL_PATH" -H "Authorization: Bearer $API_KEY"
  done >> "$STATUSES" &
  LOOP=$!
}

# drill_statuses: counts the statuses of the responses since the last call.
drill_statuses() {
  sort "$STATUSES" | uniq -c
  : > "$STATUSES"
}

# drill_watch: every 20 seconds, prints the output of status and the live versions of the function.
drill_watch() {
  while sleep 20; do
    date +%T
    status
    aws lambda get-alias --function-name "$(drill_function)" --name live --output json \
      --query '[FunctionVersion,RoutingConfig.AdditionalVersionWeights]'
  done
}

# drill_end: stops the requests and destroys the stage.
drill_end() {
  kill "$LOOP"
  rm "$STATUSES"
  drill destroy
}
