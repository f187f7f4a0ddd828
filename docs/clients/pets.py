import json
import random
import re
import time
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin
from urllib.request import HTTPRedirectHandler, Request, build_opener


class PetStoreError(Exception):
    """An error response. AWS can send a response without an Error body, so `code` can be None."""

    def __init__(self, status, headers, content):
        try:
            body = json.loads(content)
            self.code, message = body["code"], body["message"]
        except (KeyError, TypeError, ValueError):
            self.code, message = None, repr(content[:200])
        self.status, self.request_id = status, headers["x-amzn-RequestId"]
        super().__init__(f"{status} {self.code}: {message} (request {self.request_id})")


def list_pets(base_url, api_key, limit=100, **query):
    """Yields all pets, newest first. With status="available", yields only available pets."""
    page = f"{base_url}/pets?{urlencode({'limit': limit, **query})}"
    while page is not None:
        if not page.startswith(f"{base_url}/"):
            raise ValueError(f"The key for {base_url} must not be sent to {page}.")
        headers, pets = _send(page, api_key)
        yield from pets
        link = re.search('<([^<>]*)>; rel="next"', ", ".join(headers.get_all("Link", [])))
        page = urljoin(page, link[1]) if link else None


def create_pet(base_url, api_key, pet, idempotency_key):
    """Creates a pet. Generate one idempotency key per pet. Within 24 hours, calls with this key create only one pet."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": idempotency_key}
    return _send(f"{base_url}/pets", api_key, json.dumps(pet).encode(), headers)[1]


def _send(url, api_key, body=None, headers={}):
    """Sends a request with retries. The request must be a read, or a create with an Idempotency-Key."""
    end = time.monotonic() + 120
    for attempt in range(1, 7):
        pause = random.uniform(0, 2 ** (attempt - 1))
        try:
            status, received, content = _attempt(url, api_key, body, headers)
        except (OSError, HTTPException) as error:  # a timeout or a lost connection
            failure = error
        else:
            if status < 300:
                return received, json.loads(content)
            failure = PetStoreError(status, received, content)
            if status < 500 and status not in (408, 429):
                break
            if re.fullmatch("[0-9]+", received.get("Retry-After", "")):
                pause = int(received["Retry-After"])
        if attempt == 6 or time.monotonic() + pause > end:
            break
        time.sleep(pause)
    raise failure


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def _attempt(url, api_key, body, headers):
    request = Request(url, body, {**headers, "Authorization": f"Bearer {api_key}"})
    try:
        response = build_opener(_NoRedirects).open(request, timeout=30)
    except HTTPError as error:
        response = error  # an HTTPError has the attributes of a response
    with response:
        return response.status, response.headers, response.read()
