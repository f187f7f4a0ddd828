# Commands of the drill in docs/runbook.md. drill_requests also needs runbook.sh.

## Drill

# drill_deploy: deploys the stage "drill" with the settings of production.
# Output: the progress of the deployment.
drill_deploy() { npm run deploy -- --stage drill --based-on production; }

# drill_start: deploys the stage for the first time, and issues the API key that the other commands use.
# Output: the progress of the deployment.
drill_start() {
  drill_deploy || return
  API_KEY=$(npm run --silent keys -- issue --stage drill --owner "drill" --expires-in 6h --quiet)
  export API_KEY
}

# drill_change SOURCE CODE: deploys versions of the functions that also run CODE when Lambda loads the file SOURCE, and
# then restores the file.
# Output: the progress of the deployment.
drill_change() {
  echo "$2" >> "$1"
  drill_deploy
  git checkout "$1"
}

# drill_requests PATH: sends two creates with invalid bodies per second to PATH in the background.
# Output: nothing.
drill_requests() {
  local url=$BASE_URL$1
  STATUSES=$(mktemp)
  while sleep 0.5; do
    with_key -s -o /dev/null -w '%{http_code}\n' -H 'Content-Type: application/json' -d '{' "$url"
  done >> "$STATUSES" &
  LOOP=$!
}

# drill_statuses: counts the statuses of the responses since the last call.
# Output: `COUNT STATUS` for each status.
drill_statuses() {
  sort "$STATUSES" | uniq -c
  : > "$STATUSES"
}

# drill_end: stops the requests and destroys the stage.
# Output: the progress of the destruction.
drill_end() {
  kill "$LOOP"
  rm "$STATUSES"
  npx cdk destroy PetStore-drill -c stage=drill -c based-on=production
}
