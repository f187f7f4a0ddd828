# Functions for the pet store API. They need a POSIX shell, curl, mktemp, and the variables BASE_URL and API_KEY.

# pets ARGUMENT… runs curl with the API key. curl reads the key from standard input, because all users can see process
# arguments.
pets() {
  printf 'header = "Authorization: Bearer %s"\n' "$API_KEY" |
    curl --config - --silent --show-error --globoff --connect-timeout 5 --max-time 30 --write-out '\n' "$@"
}

# all_pages [QUERY] prints each page of a list on one line. Example: all_pages 'status=available&limit=100'
all_pages() (
  folder=$(mktemp -d) || exit
  trap 'rm -r "$folder"' EXIT
  page="$BASE_URL/pets?${1-limit=100}"
  while [ -n "$page" ]; do
    case $page in
      "$BASE_URL"/*) ;;
      *) echo "The key for $BASE_URL must not be sent to $page." >&2; exit 1 ;;
    esac
    send "$page" || exit
    cat "$folder/body"; echo
    page=$(header link | sed -n 's/.*<\([^<>]*\)>; *rel="next".*/\1/p')
  done
)

# create_pet FILE creates the pet whose JSON is in FILE, and prints the new pet. The Idempotency-Key is generated once
# and stored in FILE.key. After a crash, run the same command again within 24 hours. The pet is created only once.
create_pet() (
  folder=$(mktemp -d) || exit
  trap 'rm -r "$folder"' EXIT
  [ -s "$1.key" ] || od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$1.key"
  send --header 'Content-Type: application/json' --header "Idempotency-Key: $(cat "$1.key")" \
    --data-binary "@$1" "$BASE_URL/pets" || exit
  cat "$folder/body"; echo
)

# send ARGUMENT… sends a request, and retries it up to five times within two minutes. The request must be a read, or a
# create with an Idempotency-Key. The files head and body in $folder contain the last response. If the last attempt
# fails, the function prints the status, the request id and the body, and returns 22.
send() {
  attempt=1 end=$(($(date +%s) + 120))
  while :; do
    : >"$folder/head"; : >"$folder/body"
    code=$(pets --dump-header "$folder/head" --output "$folder/body" --write-out '%{http_code}' "$@") || code=000
    case $code in
      2*) return ;;
      000 | 408 | 429 | 5*) ;;
      *) break ;;
    esac
    pause=$(header retry-after)
    case $pause in
      '' | *[!0-9]*) pause=$(random $((1 << (attempt - 1)))) ;;
    esac
    [ "$attempt" -lt 6 ] && [ $(($(date +%s) + ${pause%.*})) -le "$end" ] || break
    sleep "$pause"
    attempt=$((attempt + 1))
  done
  { printf '%s (request %s): ' "$code" "$(header x-amzn-requestid)"; cat "$folder/body"; echo; } >&2
  return 22
}

# header NAME prints the value of a header in the last response. NAME must be in lower case.
header() {
  awk -v name="$1:" 'index(tolower($0), name) == 1 { sub(/^[^:]*: */, ""); sub(/\r$/, ""); value = $0 }
    END { print value }' "$folder/head"
}

# random SECONDS prints a random number of seconds below SECONDS.
random() {
  od -An -N2 -tu2 /dev/urandom | awk -v seconds="$1" '{ printf "%.3f", $1 / 65536 * seconds }'
}
