import json
import os
import sys

from openapi_client import ApiClient, ApiException, Configuration, NewPet, PetsApi


def send(api, call):
    timeout = {"_request_timeout": 30}
    if "pet" in call:
        return api.create_pet_with_http_info(NewPet.from_dict(call["pet"]), call["key"], **timeout)
    if "id" in call:
        return api.get_pet_with_http_info(call["id"], **timeout)
    return api.list_pets_with_http_info(limit=2, cursor=call.get("cursor"), **timeout)


for line in sys.stdin:
    call = json.loads(line)
    configuration = Configuration(host=os.environ["BASE_URL"], access_token=call["apiKey"], retries=False)
    api = PetsApi(ApiClient(configuration))
    try:
        response = send(api, call)
        data = [pet.to_dict() for pet in response.data] if isinstance(response.data, list) else response.data.to_dict()
        link = {name.lower(): value for name, value in response.headers.items()}.get("link")
        result = {"status": response.status_code, "data": data, "link": link}
    except ApiException as error:
        result = {"status": error.status, "error": error.data and error.data.to_dict()}
    print(json.dumps(result), flush=True)
