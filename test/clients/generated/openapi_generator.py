import json
import os
import sys

from openapi_client import ApiClient, ApiException, Configuration, Error, NewPet, PetsApi


def send(call):
    api = PetsApi(ApiClient(Configuration(host=os.environ["BASE_URL"], access_token=call["apiKey"])))
    if "pet" in call:
        return api.create_pet_with_http_info(NewPet.from_dict(call["pet"]), idempotency_key=call["key"])
    if "id" in call:
        return api.get_pet_with_http_info(call["id"])
    return api.list_pets_with_http_info(limit=2, cursor=call.get("cursor"))


for line in sys.stdin:
    try:
        response = send(json.loads(line))
        headers = {name.lower(): value for name, value in response.headers.items()}
        result = {"data": response.data, "link": headers.get("link")}
    except ApiException as failure:
        # Only documented statuses have a model.
        result = {"error": Error.from_json(failure.body) if failure.status == 418 else failure.data}
    print(json.dumps(result, default=lambda model: model.to_dict()), flush=True)
