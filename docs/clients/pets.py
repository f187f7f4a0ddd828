"""Client of the pet store API. It needs Python 3.9 or newer, and no packages.

    store = PetStore(base_url, api_key)
    rex = store.create_pet({"name": "Rex", "categoryId": 7}, idempotency_key)
    for pet in store.list_pets(status="available"):
        print(pet["name"])
"""

import json
import random
import re
import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from email.utils import parsedate_to_datetime
from http.client import HTTPException, IncompleteRead
from threading import Thread
from urllib.parse import urldefrag, urlencode, urljoin
from urllib.request import HTTPErrorProcessor, Request, build_opener

TIMEOUT = 30  # seconds per attempt


class PetStoreError(Exception):
    """A response that is not a success, or a success whose body is not as expected.

    `status` is the HTTP status, and `code` the code of the error, such as "invalid_request". AWS can send error
    responses without a code. In that case, `code` is None.
    """

    def __init__(self, status, code, request_id, message):
        super().__init__(status, code, request_id, message)
        self.status, self.code, self.request_id, self.message = status, code, request_id, message

    def __str__(self):
        start = f"{self.status} {self.code}" if self.code else self.status
        return f"{start}: {self.message} (request {self.request_id or 'without id'})"


class PetStore:
    """Client of one service. It retries requests after temporary errors."""

    def __init__(self, base_url, api_key):
        """Raises ValueError if the base URL or the API key is missing or malformed."""
        self._base_url = _normalized_base_url((base_url or "").strip())
        self._api_key = (api_key or "").strip()
        if not re.fullmatch("[!-~]+", self._api_key):
            raise ValueError("The API key must consist of visible ASCII characters.")

    def list_pets(self, *, status=None, limit=None):
        """Yields all pets that match the query, newest first. Requests each page only when its first pet is needed.

        `status` is the status of the pets, by default any, and `limit` is the number of pets per page, by default 100.
        Raises PetStoreError if the service returns an error response, after retries if the error is temporary. Raises
        OSError or HTTPException if no complete response arrives after the retries, and ValueError if the link to the
        next page is not acceptable.
        """
        query = {"limit": 100 if limit is None else limit, "status": status}
        page = f"{self._base_url}/pets?{urlencode(_without_none(query))}"
        requested = set()
        while page is not None:
            if page in requested:
                raise ValueError(_clean(f"The list has no end, because it links to {page} again.", self._api_key))
            requested.add(page)
            headers, pets = self._send(list, page)
            yield from pets
            page = _next_page(", ".join(headers.get_all("Link", [])), page, self._base_url, self._api_key)

    def create_pet(self, pet, idempotency_key):
        """Creates a pet, and returns it with its id.

        Generate one idempotency key per pet, such as a UUID, and store it with the pet until the call returns. Within
        24 hours, all calls with this key create only one pet. Raises ValueError if the key is missing or malformed,
        PetStoreError if the service returns an error response, after retries if the error is temporary, and OSError or
        HTTPException if no complete response arrives after the retries.
        """
        if not isinstance(idempotency_key, str) or not re.fullmatch("[!-~]([ -~]*[!-~])?", idempotency_key):
            raise ValueError("An idempotency key of ASCII characters is missing. Generate one per pet, and store it.")
        headers = {"Content-Type": "application/json", "Idempotency-Key": idempotency_key}
        body = json.dumps(_without_none(pet), allow_nan=False).encode()
        return self._send(dict, f"{self._base_url}/pets", body, headers)[1]

    def _send(self, kind, url, body=None, headers=None):
        """Sends a request with retries. A create must have an idempotency key, so that it creates only one pet."""
        end = time.monotonic() + 120
        for attempt in range(1, 7):
            retry_after = ""
            try:
                request = Request(url, body, {**(headers or {}), "Authorization": f"Bearer {self._api_key}"})
                status, received, content = _exchange(request)
            except (OSError, HTTPException) as error:  # a timeout or a lost connection
                failure = error
            else:
                if 200 <= status < 300:
                    return received, _parse(status, received, content, kind, self._api_key)
                failure = _error_of(status, received, content, self._api_key)
                if status < 500 and status not in (408, 429):
                    break
                retry_after = ", ".join(received.get_all("Retry-After", []))
            delay = _retry_delay(retry_after.strip(), attempt)
            if attempt == 6 or time.monotonic() + delay > end:
                break
            time.sleep(delay)
        raise failure


# These patterns match links and their parameters (RFC 8288, 3). Quoted texts can contain delimiters. The patterns take
# linear time, because they accept a quoted text without an end.
_LINK = re.compile(r'<([^<>]*)>((?:[^",]|"(?:[^"\\]|\\.)*"?)*)')
_PARAMETER = re.compile(r';\s*([^\s;=]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s;]*)))?')


def _next_page(links, page, base_url, api_key):
    """Returns the URL of the first link with `rel="next"`, or None if there is none."""
    for target, parameters in _LINK.findall(links):
        values = {}
        for name, quoted, token in _PARAMETER.findall(parameters):
            values.setdefault(name.lower(), quoted or token)  # a repeated parameter has its first value
        if "anchor" in values or "next" not in values.get("rel", "").lower().split():
            continue  # a link of another page or relation
        url = target
        try:
            if re.fullmatch("[!-~]*", target):  # urljoin ignores tabs
                # "%2e" is another form of "." (RFC 3986, 2.3), but urljoin does not know it.
                url = urldefrag(urljoin(page, re.sub("%2e", ".", target, flags=re.IGNORECASE))).url
        except ValueError:
            pass  # reported below
        normalized = _normalized(url)
        if normalized is not None and normalized.startswith(f"{base_url}/"):
            return normalized
        message = f"The next page, {url}, is not below {base_url}. The client did not send the API key there."
        raise ValueError(_clean(message, api_key))
    return None


# This pattern matches the three forms of an HTTP date (RFC 9110, 5.6.7). The last form means GMT without naming it.
_HTTP_DATE = re.compile(
    r"(\w{3}, \d\d \w{3} \d{4} [\d:]{8}|\w{6,9}, \d\d-\w{3}-\d\d [\d:]{8}) GMT|(\w{3} \w{3} [ \d]\d [\d:]{8} \d{4})"
)

_YEAR = 365.25 * 24 * 60 * 60  # seconds


def _retry_delay(retry_after, attempt):
    """Returns the seconds before the next attempt: Retry-After (RFC 9110, 10.2.3), or backoff with full jitter."""
    if re.fullmatch("[0-9]+", retry_after):
        return float(retry_after)
    date = _HTTP_DATE.fullmatch(retry_after)
    if date:
        try:
            delay = parsedate_to_datetime(f"{date[1] or date[2]} +0000").timestamp() - time.time()
            # A date with a year of two digits is at most 50 years away, but parsedate_to_datetime reads 69 as 1969.
            if "-" in retry_after and delay < -50 * _YEAR:
                delay += 100 * _YEAR
            return max(0, delay)
        except (TypeError, ValueError):
            pass  # not a date, such as 31 Foo
    return random.uniform(0, 2 ** (attempt - 1))


class _NoErrors(HTTPErrorProcessor):
    """Makes urllib return redirects and errors as responses."""

    def http_response(self, request, response):
        return response

    https_response = http_response


_opener = build_opener(_NoErrors)


def _exchange(request):
    """Sends a request once. Raises OSError or HTTPException if no complete response arrives in time."""
    outcome = Future()

    def run():
        try:
            outcome.set_result(_open(request))
        except Exception as error:
            outcome.set_exception(error)

    # urllib's timeout applies to each read, so a slow head could take forever. A daemon does not delay the program's end.
    Thread(target=run, daemon=True).start()
    try:
        return outcome.result(TIMEOUT)
    except FutureTimeoutError:
        raise TimeoutError("There was no complete response in time.") from None


def _open(request):
    end = time.monotonic() + TIMEOUT
    with _opener.open(request, timeout=TIMEOUT) as response:
        content = b""
        while chunk := response.read1(65536):
            content += chunk
            if time.monotonic() > end:  # ends the thread
                raise TimeoutError("The response is too slow.")
        # If the connection closes within the head, http.client returns a response without a length and a body.
        is_head_cut = not content and response.length is None and not response.chunked
        if response.length or is_head_cut or response.status < 200:
            raise IncompleteRead(content, response.length)
        return response.status, response.headers, content


_URL = re.compile(
    r"(https?)://([\w.-]+|\[[\da-f:.]+\])(?::(?:0*([1-9]\d{0,4}))?)?"  # scheme, host and port
    r"((?:/(?!\.\.?(?:[/?]|$))(?:[\w.~!$&'()*+,;=:@-]|%[\da-f]{2})*)*(?:\?[!-~]*)?)",  # path without "..", and query
    re.ASCII | re.IGNORECASE,
)


def _normalized(url):
    """Returns an http or https URL with a lowercase scheme and host and no default port, or None if it is malformed."""
    match = _URL.fullmatch(url)
    if not match or int(match[3] or 0) > 65535:
        return None
    scheme, host, port = match[1].lower(), match[2].lower(), match[3]
    is_default = port in (None, {"http": "80", "https": "443"}[scheme])
    return f"{scheme}://{host}{'' if is_default else ':' + port}{match[4]}"


def _normalized_base_url(url):
    normalized = _normalized(url)
    if normalized is None or "?" in normalized or "%2e" in normalized.lower():
        raise ValueError(
            "The base URL must be an http or https URL in ASCII (with other hosts as xn--…) without credentials, query,"
            ' fragment, dot segments and "%2e", such as https://api.example.com/v1.'
        )
    return normalized.rstrip("/")


def _error_of(status, headers, content, api_key):
    text = content.decode(errors="replace")
    try:
        body = json.loads(text)
        if isinstance(body["code"], str) and isinstance(body["message"], str):
            return _new_error(status, headers, api_key, body["message"], body["code"])
    except (KeyError, TypeError, ValueError, RecursionError):
        pass  # AWS can send a body that is not JSON
    return _new_error(status, headers, api_key, text)


def _new_error(status, headers, api_key, message, code=None):
    request_id = headers["x-amzn-RequestId"]
    return PetStoreError(
        status, code and _clean(code, api_key), request_id and _clean(request_id, api_key), _clean(message, api_key)[:1000]
    )


def _clean(text, api_key):
    """Returns a text of a response without the API key and control characters, so that an error can contain it."""
    # Control characters could change a terminal or forge lines in a log.
    return re.sub("[\x00-\x1f\x7f-\x9f]+", " ", text.replace(api_key, "<API key>"))


def _parse(status, headers, content, kind, api_key):
    """Parses the body of a success. Raises PetStoreError if the body is not JSON of the expected kind."""
    try:
        body = json.loads(content.decode(), parse_constant=_reject_constant)
        if isinstance(body, kind):
            return body
    except (ValueError, RecursionError):
        pass  # reported below
    message = f"The body is not a JSON {'array' if kind is list else 'object'}: {content.decode(errors='replace')}"
    raise _new_error(status, headers, api_key, message)


def _reject_constant(name):
    raise ValueError(f"{name} is not JSON.")


def _without_none(values):
    return {name: value for name, value in values.items() if value is not None}
