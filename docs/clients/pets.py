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
from email.utils import parsedate_to_datetime
from http.client import HTTPException, IncompleteRead
from urllib.parse import urldefrag, urlencode, urljoin
from urllib.request import HTTPErrorProcessor, Request, build_opener

TIMEOUT = 30  # seconds per attempt


class PetStoreError(Exception):
    """A response that is not a success, or a success whose body is not as expected.

    `status` is the HTTP status, and `code` the code of the error, such as "invalid_request". AWS can send error
    responses without a code. `code` is None then.
    """

    def __init__(self, status, headers, message, code=None):
        self.status, self.code, self.request_id = status, code, headers["x-amzn-RequestId"]
        start = f"{status} {code}" if code else status
        # Without control characters, a message can't change a terminal or forge lines in a log.
        message = re.sub("[\x00-\x1f\x7f-\x9f]+", " ", message)
        super().__init__(f"{start}: {message} (request {self.request_id or 'without id'})")


class PetStore:
    def __init__(self, base_url, api_key):
        """Raises ValueError if the base URL or the API key is missing or malformed."""
        self._base_url = _normalized_base_url((base_url or "").strip())
        self._api_key = (api_key or "").strip()
        if not re.fullmatch("[!-~]+", self._api_key):
            raise ValueError("The API key must consist of visible ASCII characters.")

    def list_pets(self, *, status=None, limit=None):
        """Yields all pets, newest first. Requests each page only when its first pet is needed.

        `status` selects pets, and `limit` is the number of pets per page.
        """
        query = {"limit": 100 if limit is None else limit, "status": status}
        page = f"{self._base_url}/pets?{urlencode(_without_none(query))}"
        requested = set()
        while page is not None:
            if page in requested:
                raise ValueError(f"The list has no end, because it links to {page} again.")
            requested.add(page)
            headers, pets = self._send(list, page)
            yield from pets
            page = _next_page(", ".join(headers.get_all("Link", [])), page, self._base_url)

    def create_pet(self, pet, idempotency_key):
        """Creates a pet, and returns it with its id.

        Generate one idempotency key per pet, such as a UUID, and store it with the pet until the call returns. Within
        24 hours, all calls with this key create only one pet.
        """
        if not re.fullmatch("[!-~]([ -~]*[!-~])?", idempotency_key or ""):
            raise ValueError("An idempotency key of ASCII characters is missing. Generate one per pet, and store it.")
        headers = {"Content-Type": "application/json", "Idempotency-Key": idempotency_key}
        body = json.dumps(_without_none(pet)).encode()
        return self._send(dict, f"{self._base_url}/pets", body, headers)[1]

    def _send(self, kind, url, body=None, headers={}):
        """Sends a request with retries. The request must be a read, or a create with an idempotency key."""
        end = time.monotonic() + 120
        for attempt in range(1, 7):
            retry_after = ""
            try:
                request = Request(url, body, {**headers, "Authorization": f"Bearer {self._api_key}"})
                status, received, content = _exchange(request)
            except (OSError, HTTPException) as error:  # a timeout or a lost connection
                failure = error
            else:
                if 200 <= status < 300:
                    return received, _parse(status, received, content, kind)
                failure = _error_of(status, received, content)
                if status < 500 and status not in (408, 429):
                    break
                retry_after = ", ".join(received.get_all("Retry-After", []))
            delay = _retry_delay(retry_after.strip(), attempt)
            if attempt == 6 or time.monotonic() + delay > end:
                break
            time.sleep(delay)
        raise failure


# Links and their parameters (RFC 8288, 3). Quoted texts can contain delimiters. The patterns take linear time, because
# they accept a quoted text without an end.
_LINK = re.compile(r'<([^<>]*)>((?:[^",]|"(?:[^"\\]|\\.)*"?)*)')
_PARAMETER = re.compile(r';\s*([^\s;=]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s;]*)))?')


def _next_page(links, page, base_url):
    """Returns the URL of the first link with `rel="next"`, or None if there is none."""
    for target, parameters in _LINK.findall(links):
        values = {}
        for name, quoted, token in _PARAMETER.findall(parameters):
            values.setdefault(name.lower(), quoted or token)  # of several, the first counts
        if "anchor" in values or "next" not in values.get("rel", "").lower().split():
            continue  # about another page, or another relation
        try:
            # "%2e" is another form of "." (RFC 3986, 2.3), but urljoin does not know it.
            url = urldefrag(urljoin(page, re.sub("%2e", ".", target, flags=re.IGNORECASE))).url
        except ValueError:
            url = target
        normalized = _normalized(url)
        if normalized is None or not normalized.startswith(f"{base_url}/"):
            raise ValueError(f"The next page, {url}, is not below {base_url}. The API key was not sent to it.")
        return normalized
    return None


# The three forms of an HTTP date (RFC 9110, 5.6.7). The last form has no time zone.
_HTTP_DATE = re.compile(
    r"(\w{3}, \d\d \w{3} \d{4} [\d:]{8}|\w{6,9}, \d\d-\w{3}-\d\d [\d:]{8}) GMT|(\w{3} \w{3} [ \d]\d [\d:]{8} \d{4})"
)


def _retry_delay(retry_after, attempt):
    """Returns the seconds before the next attempt: Retry-After (RFC 9110, 10.2.3), or backoff with full jitter."""
    if re.fullmatch("[0-9]+", retry_after):
        return float(retry_after)
    date = _HTTP_DATE.fullmatch(retry_after)
    if date:
        try:
            return max(0, parsedate_to_datetime(f"{date[1] or date[2]} +0000").timestamp() - time.time())
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
    end = time.monotonic() + TIMEOUT
    with _opener.open(request, timeout=TIMEOUT) as response:
        content = b""
        while chunk := response.read1(65536):
            content += chunk
            if time.monotonic() > end:  # urllib's timeout applies to each read
                raise TimeoutError("The response is too slow.")
        if response.length:
            raise IncompleteRead(content, response.length)
        return response.status, response.headers, content


_URL = re.compile(
    r"(https?)://([^\s/?#@\\:\[\]]+|\[[\da-f:.]+\])(?::(\d{0,5}))?"  # scheme, host and port
    r"((?:/(?!\.\.?(?:[/?]|$))[\w.~%!$&'()*+,;=:@-]*)*(?:\?[!-~]*)?)",  # path without "..", and query
    re.ASCII | re.IGNORECASE,
)


def _normalized(url):
    """Returns an http or https URL in lower case and without its default port, or None if it is malformed."""
    match = _URL.fullmatch(url)
    if not match:
        return None
    scheme, host, port, rest = match.groups(default="")
    scheme = scheme.lower()
    try:
        host = host.lower().encode("idna").decode()
    except UnicodeError:
        return None
    if not re.fullmatch(r"[\w.\[\]:-]+", host, re.ASCII) or int(port or 0) > 65535:
        return None
    is_default = port in ("", {"http": "80", "https": "443"}[scheme])
    return f"{scheme}://{host}{'' if is_default else ':' + port}{rest}"


def _normalized_base_url(url):
    normalized = _normalized(url)
    if normalized is None or "?" in normalized:
        raise ValueError(
            "The base URL must be an http or https URL without credentials, query and fragment,"
            " such as https://api.example.com/v1."
        )
    return normalized.rstrip("/")


def _error_of(status, headers, content):
    text = content.decode(errors="replace")
    try:
        body = json.loads(text)
        if isinstance(body["code"], str) and isinstance(body["message"], str):
            return PetStoreError(status, headers, body["message"], body["code"])
    except (KeyError, TypeError, ValueError, RecursionError):
        pass  # AWS can send a body that is not JSON
    return PetStoreError(status, headers, text[:200])


def _parse(status, headers, content, kind):
    """Parses the body of a success. Raises PetStoreError if the body is not JSON of the expected kind."""
    try:
        body = json.loads(content.decode())
        if isinstance(body, kind):
            return body
    except (ValueError, RecursionError):
        pass  # reported below
    start = content[:200].decode(errors="replace")
    raise PetStoreError(status, headers, f"The body is not a JSON {'array' if kind is list else 'object'}: {start}")


def _without_none(values):
    return {name: value for name, value in values.items() if value is not None}
