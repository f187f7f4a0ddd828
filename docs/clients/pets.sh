# Client of the pet store API. It needs a POSIX shell, curl, awk, od and the variables BASE_URL and API_KEY.
#
#   . ./pets.sh
#   create_pet rex.json
#   list_pets 'status=available'
#
# The functions print JSON. If they fail, they print a message to standard error, and return 22 after an error response
# (as `curl --fail` does) or 1. While they retry, they print the errors of curl.

# list_pets [QUERY] prints each page of the list on one line. QUERY is a percent-encoded query such as
# 'status=available&limit=20'.
list_pets() (
  check_settings
  query=${1-}
  case "&$query" in
    *'&limit='*) ;;
    *) query=limit=100${query:+&$query} ;;
  esac
  page=$(absolute_url "$base_url/pets?$query") || fail "The query must be percent-encoded: $query"
  requested=$newline
  while [ -n "$page" ]; do
    requested=$requested$page$newline
    send array "$page"
    page=$(next_page) || exit
    case $requested in
      *"$newline$page$newline"*) fail "The list has no end, because it links to $page again." ;;
    esac
  done
)

# create_pet FILE creates the pet whose JSON is in FILE, and prints the new pet. The Idempotency-Key is stored in
# FILE.key before the first request. After a crash, run the same command again within 24 hours. The pet is created only
# once.
create_pet() (
  check_settings
  case ${1-} in
    /*) file=$1 ;;
    *) file=./${1-} ;; # curl would read standard input instead of a file "-"
  esac
  [ -f "$file" ] && [ -r "$file" ] || fail "create_pet needs a file that it can read: ${1-}"
  [ -e "$file.key" ] || store_new_key "$file.key"
  trim "$(cat "$file.key" 2>/dev/null)"
  is_visible_ascii "$trimmed" ||
    fail "Nothing was sent, because $1.key contains no idempotency key and cannot be written."
  send object --header 'Content-Type: application/json' --header "Idempotency-Key: $trimmed" \
    --data-binary "@$file" "$base_url/pets"
)

# check_settings checks BASE_URL and API_KEY, and sets base_url and api_key. Call it in a subshell, as list_pets does,
# because it changes shell options.
check_settings() {
  { set +ax; } 2>/dev/null # The key must be neither in a trace nor in the environment of other programs.
  [ -z "${KSH_VERSION-}" ] || trap 'exit 130' INT # Otherwise, scripts in ksh93 would continue after Ctrl-C.
  LC_ALL=C # Patterns and lengths apply to bytes, and numbers have a decimal point.
  export LC_ALL
  newline='
'
  white_space=$(printf ' \t\r\n_')
  white_space=${white_space%_}
  trim "${API_KEY-}"
  api_key=$trimmed
  is_visible_ascii "$api_key" ||
    fail 'The API key must consist of visible ASCII characters, without " and \.'
  trim "${BASE_URL-}"
  case $trimmed in
    *[!!-~]*) fail 'The base URL must consist of visible ASCII characters. Write the host é.com as xn--9ca.com.' ;;
    *[?#]*) base_url= ;;
    *) base_url=$(absolute_url "$trimmed") || base_url= ;;
  esac
  while :; do
    case $base_url in
      */) base_url=${base_url%/} ;;
      ?*) return ;;
      *) fail 'The base URL must be like https://api.example.com/v1, without credentials, query and fragment.' ;;
    esac
  done
}

# send KIND ARGUMENT… sends the request that these arguments of curl describe, and retries it. The request must be a
# read, or a create with an Idempotency-Key. If the response contains JSON of this kind (array or object), the function
# prints the JSON on one line, and sets head to the headers. Otherwise, it ends the subshell.
send() {
  expected=$1 attempt=1 end=$(($(date +%s) + 120))
  shift
  while :; do
    response=$(request "$@" | parse_response)
    {
      IFS=' ' read -r code kind
      IFS= read -r body
      head=$(cat)
    } <<END
$response
END
    case $code/$kind in
      000/[23] | 000/2[67] | 000/12[67]) break ;; # curl did not send the request
      000/* | 408/* | 429/* | 5??/*) ;;
      *) break ;;
    esac
    [ "$attempt" -lt 6 ] && delay=$(retry_delay) && sleep "$delay" || break
    attempt=$((attempt + 1))
  done
  case $code/$kind in
    2??/"$expected")
      # In shells without a builtin printf, long text cannot be an argument of printf.
      cat <<END
$body
END
      return
      ;;
    2??/*) body="The body is not a JSON $expected: $body" ;;
    000/*) fail "There was no complete response (attempts: $attempt, exit code of curl: $kind)." ;;
  esac
  request_id=$(header x-amzn-requestid)
  fail "$code: $body (request ${request_id:-without id})" 22
}

# next_page prints the URL of the page that follows $page, or nothing after the last page.
next_page() {
  link=$(header link | awk '{ # RFC 8288, 3
    gsub(/\\["\\]/, "?")
    gsub(/\\/, "")
    if (gsub(/"/, "&") % 2) $0 = $0 "\"" # the last quoted string ends with the header
    gsub(/<[^<>]*>([^",]|"[^"]*")*/, "\n&\n")
    count = split($0, links, "\n")
    for (i = 1; i <= count; i++) {
      if (substr(links[i], 1, 1) != "<") continue
      target_end = index(links[i], ">")
      parameters = substr(links[i], target_end + 1)
      gsub(/;([^";]|"[^"]*")*/, "\n&", parameters)
      parameter_count = split(parameters, parameter, "\n")
      rel = anchor = ""
      for (k = 2; k <= parameter_count; k++) {
        equals = index(parameter[k] "=", "=")
        name = tolower(substr(parameter[k], 2, equals - 2))
        gsub(/[ \t]/, "", name)
        value = tolower(substr(parameter[k], equals + 1))
        gsub(/[ \t"]+/, " ", value)
        if (name == "rel" && rel == "") rel = " " value " "
        if (name == "anchor") anchor = "present"
      }
      if (index(rel, " next ") && anchor == "") {
        print substr(links[i], 1, target_end)
        exit
      }
    }
  }')
  [ -n "$link" ] || return 0
  link=${link#"<"}
  link=${link%">"}
  if next=$(absolute_url "$link" "$page"); then
    link=$next
  else
    next=
  fi
  case $next in
    "$base_url"/*) printf '%s\n' "$next" ;;
    *) fail "The next page, $link, is not below $base_url, so it must not get the API key." ;;
  esac
}

# retry_delay prints the number of seconds to wait before the next attempt: Retry-After (RFC 9110, 10.2.3), or backoff
# with full jitter. It fails if the wait would end too late.
retry_delay() {
  retry_after=$(header retry-after) limit=$((1 << (attempt - 1))) random=$(od -An -N2 -tu2 /dev/urandom) \
    now=$(date +%s) end=$end awk 'BEGIN {
      value = ENVIRON["retry_after"]
      now = ENVIRON["now"]
      delay = ENVIRON["limit"] * ENVIRON["random"] / 65536
      sub(/[ \t]+$/, "", value)
      if (value ~ /^[0-9]+$/) delay = value + 0
      # The three forms of an HTTP date (RFC 9110, 5.6.7). The parts of the last form are in another order.
      time = "[0-9][0-9]:[0-9][0-9]:[0-9][0-9]"
      form1 = value ~ "^[A-Z][a-z][a-z], [0-9][0-9] [A-Z][a-z][a-z] [0-9][0-9][0-9][0-9] " time " GMT$"
      form2 = value ~ "^[A-Z][a-z]+, [0-9][0-9]-[A-Z][a-z][a-z]-[0-9][0-9] " time " GMT$"
      form3 = value ~ "^[A-Z][a-z][a-z] [A-Z][a-z][a-z] [ 0-9][0-9] " time " [0-9][0-9][0-9][0-9]$"
      if (form1 || form2 || form3) {
        split(value, part, /[ ,:-]+/)
        day = part[2 + form3]
        month = (index("JanFebMarAprMayJunJulAugSepOctNovDec", part[3 - form3]) + 2) / 3
        year = form3 ? part[7] : part[4] + 2000 * form2
        seconds = (part[5 - form3] * 60 + part[6 - form3]) * 60 + part[7 - form3]
        if (month == int(month) && day >= 1 && day <= 31) delay = days(year, month, day) * 86400 + seconds - now
        if (form2 && delay > 50 * 366 * 86400) delay = 0 # the year is in the last century
      }
      if (delay < 0) delay = 0
      if (now + delay > ENVIRON["end"]) exit 1
      printf "%.3f\n", delay
    }
    # Returns the days between 1970 and a date. A year starts in March here, so a leap day is its last day.
    function days(year, month, day) {
      if (month < 3) {
        month += 12
        year--
      }
      day += 365 * year + int(year / 4) - int(year / 100) + int(year / 400) - 719469
      return day + int((153 * month - 457) / 5)
    }'
}

# request ARGUMENT… runs curl, and prints the headers, the body, and a line with the status, the size of the body and
# curl's exit code. curl reads the key from standard input, because all users can see the arguments of programs. echo
# writes the key, because echo is a builtin of every shell. In some shells, printf is a program, and here-documents are
# temporary files.
request() {
  { set +x; } 2>/dev/null # again, because zsh and mksh restore this option at the end of check_settings
  echo "header = \"Authorization: Bearer $api_key\"" | {
    exit_code=0
    # The first argument makes curl ignore ~/.curlrc.
    command curl -q --config - --silent --show-error --globoff --max-time 30 --include \
      --write-out '\n%{http_code} %{size_download}' "$@" || exit_code=$?
    echo " $exit_code"
  }
}

# parse_response reads the output of request. It prints the status and the kind of the JSON (array, object or other) on
# the first line, the body on the second line, and then the headers. For an error response, it prints the start of the
# body. Without a complete response, it prints 000 and the exit code of curl.
parse_response() {
  # The character 1, which JSON cannot contain, makes awk read everything at once.
  tr '\000\001' '\002\002' | awk 'BEGIN { RS = "\001" } {
    count = split(substr($0, length($0) - 50), lines, "\n")
    last_line = lines[count - 1]
    count = split(last_line, result, " ")
    if (result[count] != 0) {
      print "000", result[count]
      exit
    }
    body = substr($0, 1, length($0) - length(last_line) - 2)
    # Interim responses and the response of a proxy to CONNECT precede the head of the response.
    while (body ~ /^HTTP\// && match(body, /\r?\n\r?\n/)) {
      head = substr(body, 1, RSTART)
      body = substr(body, RSTART + RLENGTH)
    }
    body = substr(body, 1, result[2]) # without trailers

    # The first and the last character show whether the body is cut, HTML or of another kind.
    text = body
    gsub(/^[ \t\r\n]+|[ \t\r\n]+$/, "", text)
    ends = substr(text, 1, 1) substr(text, length(text))
    kind = ends == "[]" ? "array" : ends == "{}" ? "object" : "other"
    next_byte = "[\200-\277]"
    gsub("[\302-\337]" next_byte "|([\340-\357]|[\360-\364]" next_byte ")" next_byte next_byte, "", text)
    # Some versions of awk decode UTF-8 themselves.
    if (text ~ /[\200-\377]/ && length("\303\251") == 2) kind = "other"

    if (result[1] !~ /^2/ || kind == "other") body = substr(body, 1, 1000)
    gsub(/[\001-\037]/, " ", body)
    gsub(/\r/, "", head)
    print result[1], kind "\n" body "\n" head
  }'
}

# header NAME prints the values of a header in $head on one line (RFC 9110, 5.3). NAME must be in lower case.
header() {
  awk -v name="$1:" 'index(tolower($0), name) == 1 {
    value = substr($0, length(name) + 1)
    sub(/^[ \t]+/, "", value)
    printf "%s%s", separator, value
    separator = ", "
  }
  END { print "" }' <<END
$head
END
}

# absolute_url REFERENCE [PAGE] resolves a reference in a page (RFC 3986, 5.2), and prints the normalized URL without
# the fragment. The function fails if the URL is not for http or https, or if it contains credentials.
absolute_url() {
  reference=$1 page=${2-} awk 'BEGIN {
    url = ENVIRON["reference"]
    page = ENVIRON["page"]
    sub(/#.*/, "", url)
    if (url !~ /^[A-Za-z][A-Za-z0-9+.-]*:/) {
      match(page, /^[a-z]+:\/\/[^\/?]+/)
      origin = substr(page, 1, RLENGTH)
      path = substr(page, RLENGTH + 1)
      if (url == "") url = path
      if (url ~ /^\/\//) sub(/\/\/.*/, "", origin)
      else if (url !~ /^\//) {
        sub(/\?.*/, "", path)
        if (url !~ /^\?/) sub(/[^\/]*$/, "", path)
        url = path url
      }
      url = origin url
    }
    if (url !~ /^[!-~]+$/ || url ~ /\\/ || !match(url, /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\/?]*/)) exit 1
    origin = tolower(substr(url, 1, RLENGTH))
    path = substr(url, RLENGTH + 1)
    if (origin !~ /^https?:\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]*)?$/) exit 1
    if (match(origin, /:[0-9]*$/)) {
      port = substr(origin, RSTART + 1) + 0
      origin = substr(origin, 1, RSTART - 1)
      if (port > 65535) exit 1
      if (port != 0 && port != (origin ~ /^https/ ? 443 : 80)) origin = origin ":" port
    }
    query = index(path, "?") ? substr(path, index(path, "?")) : ""
    path = substr(path, 1, length(path) - length(query))
    gsub(/%2[Ee]/, ".", path)
    count = split(path, segments, "/")
    for (i = 2; i <= count; i++) {
      dots = segments[i] == "." || segments[i] == ".."
      if (segments[i] == ".." && depth > 0) depth--
      if (!dots) kept[++depth] = segments[i]
      else if (i == count) kept[++depth] = ""
    }
    printf "%s", origin
    for (i = 1; i <= depth; i++) printf "/%s", kept[i]
    print query
  }'
}

# store_new_key FILE generates an idempotency key. If FILE does not exist, the key is stored in FILE.
store_new_key() {
  new_key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  # A link appears together with its content, and only one of several processes can create it.
  {
    printf '%s\n' "$new_key" >"$1.$new_key" && ln "$1.$new_key" "$1"
    rm -f "$1.$new_key"
  } 2>/dev/null
}

# trim TEXT sets trimmed to the text without white space around it. It does not print it, as that could need a program.
trim() {
  trimmed=$1
  while :; do
    case $trimmed in
      ["$white_space"]*) trimmed=${trimmed#?} ;;
      *["$white_space"]) trimmed=${trimmed%?} ;;
      *) return ;;
    esac
  done
}

is_visible_ascii() {
  case $1 in
    '' | *[!!-~]* | *[\"\\]*) return 1 ;;
  esac
}

# fail MESSAGE [EXIT_CODE] prints a message and ends the subshell.
fail() {
  # Without control characters, a message cannot change a terminal or forge lines in a log.
  message=$1 awk 'BEGIN {
    message = ENVIRON["message"]
    gsub(/[\001-\037\177]|\302[\200-\237]/, " ", message)
    print message
  }' >&2
  exit "${2-1}"
}
