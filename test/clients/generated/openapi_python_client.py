import json
import os
import sys

from pet_store_client import AuthenticatedClient
from pet_store_client.api.pets import create_pet, get_pet, list_pets
from pet_store_client.models import Error, NewPet


def send(call):
    client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=call["apiKey"])
    if "pet" in call:
        return create_pet.sync_detailed(
            client=client, body=NewPet.from_dict(call["pet"]), idempotency_key=call["key"]
        )
    if "id" in call:
        return get_pet.sync_detailed(call["id"], client=client)
    query = {"cursor": call["cursor"]} if "cursor" in call else {}
    return list_pets.sync_detailed(client=client, limit=2, **query)


for line in sys.stdin:
    response = send(json.loads(line))
    # Only documented statuses are parsed.
    parsed = Error.from_dict(json.loads(response.content)) if response.status_code == 418 else response.parsed
    result = {"error" if isinstance(parsed, Error) else "data": parsed, "link": response.headers.get("Link")}
    print(json.dumps(result, default=lambda model: model.to_dict()), flush=True)
