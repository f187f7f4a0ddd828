package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"

	petstore "github.com/GIT_USER_ID/GIT_REPO_ID"
)

type call struct {
	ApiKey, Key, Cursor string
	Id                  int64
	Pet                 *petstore.PetToAdd
}

func send(api *petstore.PetsAPIService, sent call) (any, *http.Response, error) {
	ctx := context.WithValue(context.Background(), petstore.ContextAccessToken, sent.ApiKey)
	list := api.ListPets(ctx).Limit(2)
	switch {
	case sent.Pet != nil:
		return api.CreatePet(ctx).PetToAdd(*sent.Pet).IdempotencyKey(sent.Key).Execute()
	case sent.Id != 0:
		return api.GetPet(ctx, sent.Id).Execute()
	case sent.Cursor != "":
		list = list.Cursor(sent.Cursor)
	}
	return list.Execute()
}

func main() {
	configuration := petstore.NewConfiguration()
	configuration.Servers = petstore.ServerConfigurations{{URL: os.Getenv("BASE_URL")}}
	api := petstore.NewAPIClient(configuration).PetsAPI
	for input := json.NewDecoder(os.Stdin); input.More(); {
		var sent call
		input.Decode(&sent)
		data, response, err := send(api, sent)
		result := map[string]any{"data": data, "link": response.Header.Get("Link")}
		if failure, ok := err.(*petstore.GenericOpenAPIError); ok {
			result = map[string]any{"error": failure.Model()}
			if response.StatusCode == http.StatusTeapot { // only documented statuses have a model
				result["error"] = json.RawMessage(failure.Body())
			}
		}
		json.NewEncoder(os.Stdout).Encode(result)
	}
}
