#!/usr/bin/env bash
# Compares the stacks of the cloud assemblies in the folders BASE and HEAD without access to AWS.
#
#   .github/template-diff.sh BASE HEAD OUTPUT [STACK ...]
#
# The script writes OUTPUT/<stack>.diff for each STACK, by default for every stack of BASE and HEAD, and prints Markdown for
# a job summary to standard output. Stacks that BASE does not contain are shown as new.
set -euo pipefail
base=$1 head=$2 output=$3
shift 3

# Five diffs of this size fit in a step summary, which GitHub limits to 1 MiB.
summary_bytes_per_stack=200000
# The fence has ten tildes, so that a shorter row of tildes in a template cannot end the code block.
fence='~~~~~~~~~~'

mkdir -p "$output"
empty=$(mktemp)
trap 'rm -f "$empty"' EXIT
echo '{}' > "$empty"

stacks_of() {
  [ ! -d "$1" ] || find "$1" -maxdepth 1 -name '*.template.json' -exec basename {} .template.json \;
}

echo '## Template changes'
if [ $# -gt 0 ]; then stacks=$(printf '%s\n' "$@"); else stacks=$(stacks_of "$base" && stacks_of "$head"); fi
sort -u <<< "$stacks" | while read -r stack; do
  old=$base/$stack.template.json new=$head/$stack.template.json diff=$output/$stack.diff
  note=''
  if [ ! -f "$new" ]; then
    note=' (removed from the app)'
    echo "The app no longer contains the stack $stack. Delete it in CloudFormation if it is deployed." > "$diff"
  else
    if [ ! -f "$old" ]; then
      note=' (new)'
      old=$empty
    fi
    # The file gets both streams, because the CDK CLI writes the diff to standard error, or to standard output if CI is set.
    npx cdk diff "$stack" --exclusively --app "$head" --template "$old" --no-color \
      > "$diff" 2>&1 < /dev/null || {
      cat "$diff" >&2
      exit 1
    }
  fi

  printf '\n### %s%s\n\n' "$stack" "$note"
  if grep -q '^There were no differences' "$diff"; then
    echo 'No differences.'
    continue
  fi
  echo "$fence"
  head -c "$summary_bytes_per_stack" "$diff"
  printf '\n%s\n' "$fence"
  if [ "$(wc -c < "$diff")" -gt "$summary_bytes_per_stack" ]; then
    echo 'This diff is truncated. Download the artifact template-diff for the complete diff.'
  fi
done
