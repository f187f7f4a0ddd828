#!/usr/bin/env bash
# Compares the stacks of two synthesized cloud assemblies, without AWS.
#
#   .github/template-diff.sh BASE HEAD OUTPUT
#
# Writes OUTPUT/<stack>.diff for every stack of either, and Markdown to standard output, as much of it as a job summary
# takes. BASE need not exist: every stack is new then.
set -euo pipefail
base=$1 head=$2 output=$3

# GitHub refuses a step's summary of more than 1 MiB. Three stacks, and some room for what stands around them.
summary_bytes_per_stack=200000
# Longer than any run of tildes that is likely in a template, so that none ends the block.
fence='~~~~~~~~~~'

mkdir -p "$output"
empty=$(mktemp)
trap 'rm -f "$empty"' EXIT
echo '{}' > "$empty"

stacks_of() {
  [ ! -d "$1" ] || find "$1" -maxdepth 1 -name '*.template.json' -exec basename {} .template.json \;
}

echo '## Templates, compared with the base'
{ stacks_of "$base"; stacks_of "$head"; } | sort -u | while read -r stack; do
  old=$base/$stack.template.json new=$head/$stack.template.json diff=$output/$stack.diff
  note=''
  if [ ! -f "$new" ]; then
    # Its resources go only once somebody destroys the stack.
    note=' (no longer in the app; a deployed stack of this name stays)'
    echo "The stack $stack is no longer in the app." > "$diff"
  else
    if [ ! -f "$old" ]; then
      note=' (new)'
      old=$empty
    fi
    # The CLI writes its comparison to standard error, but to standard output where CI is set.
    npx cdk diff "$stack" --exclusively --app "$head" --template "$old" --no-color > "$diff" 2>&1 < /dev/null || {
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
    echo 'Cut here; the whole is in the artifact template-diff.'
  fi
done
