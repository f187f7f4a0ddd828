import json
import os
import sys

import httpx
from pet_store_client import AuthenticatedClient
from pet_store_client.api.pets import create_pet, get_pet, list_pets
from pet_store_client.models import Error, NewPet


def check(response):
    if response.is_error:
        response.read()
        response.raise_for_status()


def send(client, call):
    if "pet" in call:
        return create_pet.sync_detailed(client=client, body=NewPet.from_dict(call["pet"]), idempotency_key=call["key"])
    if "id" in call:
        return get_pet.sync_detailed(call["id"], client=client)
    query = {"cursor": call["cursor"]} if "cursor" in call else {}
    return list_pets.sync_detailed(client=client, limit=2, **query)


for line in sys.stdin:
    call = json.loads(line)
    options = {"timeout": httpx.Timeout(30), "httpx_args": {"event_hooks": {"response": [check]}}}
    try:
        response = send(AuthenticatedClient(os.environ["BASE_URL"], call["apiKey"], **options), call)
        data = [pet.to_dict() for pet in response.parsed] if isinstance(response.parsed, list) else response.parsed.to_dict()
        result = {"status": response.status_code, "data": data, "link": response.headers.get("Link")}
    except httpx.HTTPStatusError as failure:
        try:
            body = failure.response.json()
        except ValueError:
            body = {}
        result = {"status": failure.response.status_code, "error": Error.from_dict(body).to_dict() if "code" in body else None}
    print(json.dumps(result), flush=True)
