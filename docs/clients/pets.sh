# Client of the pet store API. It needs a POSIX shell, curl, awk, od and the variables BASE_URL and API_KEY.
#
#   . ./pets.sh
#   create_pet rex.json
#   list_pets 'status=available'
#
# The functions print JSON. If they fail, they print a message to standard error. They return 22 after an error response
# (as `curl --fail` does) or an unexpected body, and 1 after other errors. While they retry, they print the errors of
# curl.
#
# The functions call programs with `command`, because your script can have functions and aliases with the same names.

# list_pets [QUERY] prints each page of the list on one line. QUERY is a percent-encoded query such as
# 'status=available&limit=20'.
list_pets() (
  pets_check_settings
  query=${1-}
  case "&$query" in
    *'&limit='*) ;;
    *) query=limit=100${query:+&$query} ;;
  esac
  page=$(pets_absolute_url "?$query" "$base_url/pets") || pets_fail "The query must be percent-encoded: $query"
  requested=$newline
  while [ -n "$page" ]; do
    requested=$requested$page$newline
    pets_send array "$page"
    page=$(pets_next_page) || exit
    case $requested in
      *"$newline$page$newline"*) pets_fail "The list has no end, because it links to $page again." ;;
    esac
  done
)

# create_pet FILE creates the pet whose JSON is in FILE, and prints the new pet. The Idempotency-Key is stored in
# FILE.key before the first request. After a crash, run the same command again within 24 hours. The pet is created only
# once.
create_pet() (
  pets_check_settings
  case ${1-} in
    /*) file=$1 ;;
    *) file=./${1-} ;; # curl would read standard input instead of a file "-"
  esac
  [ -f "$file" ] && [ -r "$file" ] || pets_fail "create_pet needs a file that it can read: ${1-}"
  [ -e "$file.key" ] || pets_store_new_key "$file.key"
  [ -e "$file.key" ] || pets_fail "Nothing was sent, because the idempotency key cannot be stored in $1.key."
  pets_trim "$(command cat "$file.key" 2>/dev/null)"
  pets_is_visible_ascii "$trimmed" ||
    pets_fail "Nothing was sent, because $1.key contains no valid idempotency key."
  pets_send object --header 'Content-Type: application/json' --header "Idempotency-Key: $trimmed" \
    --data-binary "@$file" "$base_url/pets"
)

# pets_check_settings checks BASE_URL and API_KEY, and sets base_url and api_key. Call it in a subshell, as list_pets
# does, because it changes shell options.
pets_check_settings() {
  { set +ax; } 2>/dev/null # The key must be neither in a trace nor in the environment of other programs.
  unset api_key trimmed    # Your script can have exported variables with these names.
  [ -z "${KSH_VERSION-}" ] || trap 'exit 130' INT # Otherwise, scripts in ksh93 would continue after Ctrl-C.
  LC_ALL=C # Patterns and lengths apply to bytes, and numbers have a decimal point.
  export LC_ALL
  newline='
'
  white_space=" $newline$(printf '\t\r')"
  pets_trim "${API_KEY-}"
  pets_is_visible_ascii "$trimmed" ||
    pets_fail 'The API key must consist of visible ASCII characters, without " and \.'
  api_key=$trimmed
  pets_trim "${BASE_URL-}"
  case $trimmed in
    *[!!-~]*)
      pets_fail 'The base URL must consist of visible ASCII characters. Write the host é.com as xn--9ca.com.'
      ;;
  esac
  base_url=$(pets_absolute_url "$trimmed") || pets_fail \
    'The base URL must be like https://api.example.com/v1, without credentials, query, fragment and dot segments.'
}

# pets_send KIND ARGUMENT… sends the request that these arguments of curl describe, and retries it. A create must have
# an Idempotency-Key, so that a retry cannot create a second pet. If the status is 2xx and the body is JSON of this KIND
# (array or object), the function prints the JSON on one line, and sets head to the headers. Otherwise, also after an error
# response, it ends the subshell.
pets_send() {
  expected=$1 attempt=1 end=$(($(command date +%s) + 120))
  shift
  while :; do
    response=$(pets_request "$@" | pets_parse_response)
    {
      IFS=' ' read -r exit_code code kind
      IFS= read -r body
      head=$(command cat)
    } <<END
$response
END
    case $exit_code in
      2 | 3 | 26 | 27 | 126 | 127) break ;; # a retry would fail for the same reason
    esac
    case $code in
      000 | 408 | 429 | 5??) ;; # 000: there was no complete response
      *) break ;;
    esac
    [ "$attempt" -lt 6 ] && delay=$(pets_retry_delay) && pets_sleep "$delay" || break
    attempt=$((attempt + 1))
  done
  case $code/$kind in
    000/*) pets_fail "There was no complete response (attempts: $attempt, exit code of curl: $exit_code)." ;;
    2??/"$expected")
      # In shells without a builtin printf, long text cannot be an argument of printf.
      command cat <<END || exit 1
$body
END
      return
      ;;
    2??/*) body="The body is not a JSON $expected: $body" ;;
  esac
  request_id=$(pets_header x-amzn-requestid)
  pets_fail "$code: $body (request ${request_id:-without id})" 22
}

# pets_next_page prints the URL of the page that follows $page, or nothing after the last page.
pets_next_page() {
  link=$(pets_header link | command awk '{ # RFC 8288, 3
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
  next=$(pets_absolute_url "$link" "$page") || next=
  case $next in
    "$base_url"/*) printf '%s\n' "$next" ;;
    *) pets_fail "The next page, ${next:-$link}, is not below $base_url, so it must not get the API key." ;;
  esac
}

# pets_retry_delay prints the number of seconds to wait before the next attempt: Retry-After (RFC 9110, 10.2.3), or
# backoff with full jitter. It fails if the wait would end too late.
pets_retry_delay() {
  pets_header retry-after | limit=$((1 << (attempt - 1))) random=$(command od -An -N2 -tu2 /dev/urandom) \
    now=$(command date +%s) end=$end command awk '{
      delay = ENVIRON["limit"] * ENVIRON["random"] / 65536
      if ($0 ~ /^[0-9]+$/) delay = $0 + 0

      # The three forms of an HTTP date (RFC 9110, 5.6.7). The last one is converted to the first one.
      time = "[0-9][0-9]:[0-9][0-9]:[0-9][0-9]"
      form1 = "^[A-Z][a-z][a-z], [0-9][0-9] [A-Z][a-z][a-z] [0-9][0-9][0-9][0-9] " time " GMT$"
      form2 = "^[A-Z][a-z]+, [0-9][0-9]-[A-Z][a-z][a-z]-[0-9][0-9] " time " GMT$"
      form3 = "^[A-Z][a-z][a-z] [A-Z][a-z][a-z] [ 0-9][0-9] " time " [0-9][0-9][0-9][0-9]$"
      if ($0 ~ form3) $0 = sprintf("%s, %02d %s %s %s GMT", $1, $3, $2, $5, $4)
      if ($0 ~ form1 || $0 ~ form2) {
        split($0, part, /[ ,:-]+/) # day of the week, day, month, year, hours, minutes, seconds
        has_short_year = length(part[4]) == 2
        year = part[4] + 2000 * has_short_year
        month = (index("JanFebMarAprMayJunJulAugSepOctNovDec", part[3]) + 2) / 3
        time = days(year, month, part[2]) * 86400 + (part[5] * 60 + part[6]) * 60 + part[7]
        is_date = month == int(month) && part[2] >= 1 && part[2] <= 31
        if (is_date) delay = time - ENVIRON["now"]
        if (has_short_year && delay > 50 * 366 * 86400) delay = 0 # the year is in the last century
      }
      if (delay < 0) delay = 0
      if (ENVIRON["now"] + delay > ENVIRON["end"]) exit 1
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

# pets_sleep SECONDS waits for some seconds. If the program sleep accepts only integers, pets_sleep rounds the number
# up.
pets_sleep() {
  command sleep "$1" 2>/dev/null || command sleep "$((${1%.*} + 1))"
}

# pets_request ARGUMENT… runs curl, and prints the headers, the body, and a line with the status, the size of the body
# and curl's exit code. curl reads the key from standard input, because all users can see the arguments of programs.
# echo writes the key, because echo is a builtin of every shell. In some shells, printf is a program, and here-documents
# are temporary files.
pets_request() {
  { set +x; } 2>/dev/null # again, because zsh and mksh restore this option at the end of pets_check_settings
  echo "header = \"Authorization: Bearer $api_key\"" | {
    exit_code=0
    # The first argument makes curl ignore ~/.curlrc.
    command curl -q --config - --silent --show-error --globoff --max-time 30 --include --suppress-connect-headers \
      --write-out '\n%{http_code} %{size_download}' "$@" || exit_code=$?
    echo " $exit_code"
  }
}

# pets_parse_response reads the output of pets_request. It prints the exit code of curl, the status and the kind of the
# JSON (array, object or other) on the first line, the body on the second line, and then the headers. Without a complete
# response, the status is 000.
pets_parse_response() {
  # The character 1, which JSON cannot contain, makes awk read everything at once.
  command tr '\000\001' '\002\002' | command awk 'BEGIN { RS = "\001" } {
    count = split(substr($0, length($0) - 50), lines, "\n")
    last_line = lines[count - 1]
    count = split(last_line, result, " ")
    exit_code = result[count]
    body = substr($0, 1, length($0) - length(last_line) - 2)

    # Interim responses, such as 100 (Continue), precede the head of the response.
    do {
      if (exit_code == 0 && !match(body, /\r?\n\r?\n/)) exit_code = 18 # curl does not report a head that is cut
      if (exit_code != 0) {
        print exit_code, "000 other"
        exit
      }
      head = substr(body, 1, RSTART - 1)
      body = substr(body, RSTART + RLENGTH)
    } while (head ~ /^HTTP\/[0-9.]+ 1/)
    body = substr(body, 1, result[2]) # without trailers
    gsub(/\r?\n[ \t]+/, " ", head) # values can continue on the next line (RFC 9112, 5.2)
    gsub(/\r/, "", head)

    # The first and the last character show whether the body is cut, HTML or of another kind.
    first = match(body, /[^ \t\r\n]/)
    last = length(body)
    while (last > first && index(" \t\r\n", substr(body, last, 1))) last--
    ends = substr(body, first, 1) substr(body, last, 1)
    kind = ends == "[]" ? "array" : ends == "{}" ? "object" : "other"
    # The tokens (RFC 8259, 2) show whether the body is UTF-8 and contains nothing like NaN.
    next_byte = "[\200-\277]"
    utf8 = "[\302-\337]" next_byte "|([\340-\357]|[\360-\364]" next_byte ")" next_byte next_byte
    string = "\"([]\001-!#-[^-\177]|\\\\.|" utf8 ")*\""
    json = "^([][{},: \t\r\n]|-?[0-9][0-9.eE+-]*|true|false|null|" string ")*$"
    # This pattern matches bytes, so versions of awk that decode UTF-8 skip it.
    if (length("\303\251") == 2 && body !~ json) kind = "other"

    if (result[1] !~ /^2/ || kind == "other") body = substr(body, 1, 10000) # pets_fail prints only its start
    gsub(/[\001-\037]/, " ", body)
    print exit_code, result[1], kind "\n" body "\n" head
  }'
}

# pets_header NAME prints the values of a header in $head on one line (RFC 9110, 5.3). NAME must be in lower case.
pets_header() {
  command awk -v name="$1:" 'index(tolower($0), name) == 1 {
    value = substr($0, length(name) + 1)
    sub(/^[ \t]+/, "", value)
    match(value, /^.*[^ \t]/) # faster than sub(/[ \t]+$/, "", value) if the value contains much white space
    printf "%s%s", separator, substr(value, 1, RLENGTH)
    separator = ", "
  }
  END { print "" }' <<END
$head
END
}

# pets_absolute_url REFERENCE PAGE resolves a reference in a page (RFC 3986, 5.2), and prints the normalized URL without
# the fragment. pets_absolute_url URL checks a base URL, and prints the normalized URL without slashes at its end. The
# function fails if the URL is not for http or https, or if it contains credentials.
pets_absolute_url() {
  reference=$1 page=${2-} command awk 'BEGIN {
    url = ENVIRON["reference"]
    page = ENVIRON["page"]
    if (page == "") {
      if (url ~ /[?#]|%2[Ee]|\/\.\.?(\/|$)/) exit 1
      sub(/\/+$/, "", url)
    }
    sub(/#.*/, "", url)
    if (page != "" && url !~ /^[A-Za-z][A-Za-z0-9+.-]*:/) {
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
    # The characters of a path (RFC 3986, 3.3). \047 is an apostrophe.
    if (page == "" && path !~ /^([A-Za-z0-9\/._~!$&\047()*+,;=:@-]|%[0-9A-Fa-f][0-9A-Fa-f])*$/) exit 1
    if (origin !~ /^https?:\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]*)?$/) exit 1
    if (match(origin, /:[0-9]*$/)) {
      port = substr(origin, RSTART + 1)
      origin = substr(origin, 1, RSTART - 1)
      default_port = origin ~ /^https/ ? 443 : 80
      port = port == "" ? default_port : port + 0
      if (port < 1 || port > 65535) exit 1
      if (port != default_port) origin = origin ":" port
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

# pets_store_new_key FILE generates an idempotency key. If FILE does not exist, the key is stored in FILE.
pets_store_new_key() {
  new_key=$(command od -An -N16 -tx1 /dev/urandom | command tr -d ' \n')
  [ "${#new_key}" -eq 32 ] || return 0 # od failed, and printed the reason
  # A link appears together with its content, and only one of several processes can create it.
  {
    printf '%s\n' "$new_key" >"$1.$new_key" && command ln "$1.$new_key" "$1"
    command rm -f "$1.$new_key"
  } 2>/dev/null
}

# pets_trim TEXT sets trimmed to the text without white space around it. It does not print the text, because in some
# shells, printing needs a program.
pets_trim() {
  trimmed=$1
  while :; do
    case $trimmed in
      ["$white_space"]*) trimmed=${trimmed#?} ;;
      *["$white_space"]) trimmed=${trimmed%?} ;;
      *) return ;;
    esac
  done
}

# pets_is_visible_ascii TEXT succeeds if the text consists of visible ASCII characters other than " and \.
pets_is_visible_ascii() {
  case $1 in
    '' | *[!!-~]* | *[\"\\]*) return 1 ;;
  esac
}

# pets_fail MESSAGE [EXIT_CODE] prints a message and ends the subshell. It replaces the API key, which a server can
# repeat, and control characters, which could change a terminal or forge lines in a log. It shortens long text.
pets_fail() {
  {
    echo "key ${api_key-}"
    command cat <<END
$1
END
  } | command awk '
    NR == 1 {
      key = substr($0, 5)
      next
    }
    { text = text $0 " " }
    END {
      while (key != "" && (start = index(text, key))) {
        message = message substr(text, 1, start - 1) "<API key>"
        text = substr(text, start + length(key))
      }
      message = message substr(text, 1, length(text) - 1)
      gsub(/[\001-\037\177]|\302[\200-\237]/, " ", message)
      if (length(message) > 1200) message = substr(message, 1, 1000) " … " substr(message, length(message) - 100)
      print message
    }' >&2
  exit "${2-1}"
}
