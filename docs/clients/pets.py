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
from http.client import HTTPException
from urllib.parse import urlencode
from urllib.request import HTTPErrorProcessor, ProxyHandler, Request, build_opener, getproxies

ATTEMPTS = 6
TIMEOUT = 30  # seconds after which an attempt fails
RETRY_PERIOD = 120  # seconds after the first attempt in which a retry can start


class PetStoreError(Exception):
    """A response that is not a success, or a success whose body is not JSON.

    `status` is the HTTP status, and `code` the code of the error, such as "invalid_request". AWS can send error
    responses without a code. `retry_after` are the seconds to wait before a retry, if the service asks for them.
    """

    def __init__(self, status, message, code=None, request_id=None, retry_after=None):
        super().__init__(status, message, code, request_id, retry_after)
        self.status, self.message, self.code = status, message, code
        self.request_id, self.retry_after = request_id, retry_after

    def __str__(self):
        start = f"{self.status} {self.code}" if self.code else self.status
        return f"{start}: {self.message} (request {self.request_id or 'without id'})"


class PetStore:
    """Client of one service. It retries requests after temporary errors."""

    def __init__(self, base_url, api_key):
        """Raises ValueError if the base URL or the API key is missing or malformed."""
        self._base_url = (base_url or "").strip().rstrip("/")
        pattern = r"(https://[\w.-]+|http://(localhost|127\.0\.0\.1|\[::1\]))(:\d+)?(/[\w.~/-]*)?"
        if not re.fullmatch(pattern, self._base_url, re.ASCII):
            raise ValueError('The base URL must start with "https://", or with "http://localhost".')
        self._api_key = (api_key or "").strip()
        if not re.fullmatch("[!-~]+", self._api_key):
            raise ValueError("The API key must consist of visible ASCII characters.")

    def list_pets(self, *, status=None):
        """Yields all pets that match the query, newest first. Requests each page only when its first pet is needed.

        `status` is the status of the pets, by default any. Raises PetStoreError if the service returns an error
        response, after retries if the error is temporary. Raises OSError or HTTPException if no complete response
        arrives after the retries, and ValueError if the next page is not below the base URL.
        """
        query = {"limit": 100, **({"status": status} if status else {})}
        page = f"{self._base_url}/pets?{urlencode(query)}"
        while page:
            headers, pets = self._send(page)
            yield from pets
            link = re.search('<([^<>]*)>; rel="next"', ", ".join(headers.get_all("Link", [])))
            page = link and link[1]
            if page and (not page.startswith(f"{self._base_url}/") or ".." in page or "%2e" in page.lower()):
                raise ValueError(f"The next page is not below {self._base_url}, so the API key was not sent there.")

    def create_pet(self, pet, idempotency_key):
        """Creates a pet, and returns it with its id.

        Generate one idempotency key per pet, such as a UUID, and store it with the pet until the call returns. Within
        24 hours, all calls with this key create only one pet. Raises ValueError if the key is missing, PetStoreError if
        the service returns an error response, after retries if the error is temporary, and OSError or HTTPException if
        no complete response arrives after the retries.
        """
        if not idempotency_key:
            raise ValueError("The idempotency key is missing. Generate one per pet.")
        headers = {"Content-Type": "application/json", "Idempotency-Key": str(idempotency_key)}
        return self._send(f"{self._base_url}/pets", json.dumps(pet).encode(), headers)[1]

    def _send(self, url, body=None, headers=None):
        """Sends a request, with retries after temporary errors. Each attempt sends the same bytes."""
        end = time.monotonic() + RETRY_PERIOD
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._attempt(Request(url, body, headers or {}))
            except (PetStoreError, OSError, HTTPException) as error:
                is_response = isinstance(error, PetStoreError)  # otherwise, a timeout or a lost connection
                if is_response and not _is_temporary(error.status):
                    raise
                asked = error.retry_after if is_response else None
                seconds = max(asked or 0, random.uniform(0, 2 ** (attempt - 1)))
                if attempt == ATTEMPTS or time.monotonic() + seconds > end:
                    raise
            time.sleep(seconds)

    def _attempt(self, request):
        request.add_header("Authorization", f"Bearer {self._api_key}")
        end = time.monotonic() + TIMEOUT
        with _opener.open(request, timeout=TIMEOUT) as response:
            content = b""
            while chunk := response.read1(65536):  # urllib's timeout applies to each read.
                content += chunk
                if time.monotonic() > end:
                    raise TimeoutError("The response is too slow.")
        body = _parse(content)
        if 200 <= response.status < 300 and body is not None:
            return response.headers, body

        def clean(text):
            # An error must neither contain the API key nor control characters, which could change a terminal.
            return re.sub("[\x00-\x1f\x7f-\x9f]+", " ", str(text).replace(self._api_key, "<API key>"))[:1000]

        error = body if isinstance(body, dict) else {}
        message = error.get("message", content.decode(errors="replace"))
        code, request_id = error.get("code"), response.headers["x-amzn-RequestId"]
        retry_after = response.headers.get("Retry-After", "")
        raise PetStoreError(
            response.status,
            clean(message),
            code and clean(code),
            request_id and clean(request_id),
            float(retry_after) if re.fullmatch("[0-9]+", retry_after) else None,
        )


class _Responses(HTTPErrorProcessor):
    """Returns errors and redirects as responses. urllib would follow a redirect, and send the API key to another host."""

    def http_response(self, request, response):
        return response

    https_response = http_response


# A proxy for http would see the API key.
_proxies = {scheme: proxy for scheme, proxy in getproxies().items() if scheme != "http"}
_opener = build_opener(_Responses, ProxyHandler(_proxies))


def _is_temporary(status):
    """Returns whether to retry. A failure with the status of a success had a body that was cut off."""
    return status < 300 or status in (408, 429) or status >= 500


def _parse(content):
    """Parses JSON. Returns None if the content is not JSON."""
    try:
        return json.loads(content)
    except ValueError:
        return None
