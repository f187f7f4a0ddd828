package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"

	"petstore"
)

type call struct {
	ApiKey, Key string
	Cursor      *string
	Id          int64
	Pet         *petstore.NewPet
}

func send(sent call) (data, failure any, link string) {
	ctx, limit := context.Background(), int32(2)
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+sent.ApiKey)
		return nil
	}
	api, _ := petstore.NewClientWithResponses(os.Getenv("BASE_URL"), petstore.WithRequestEditorFn(authorize))
	if sent.Pet != nil {
		params := petstore.CreatePetParams{IdempotencyKey: &sent.Key}
		created, _ := api.CreatePetWithResponse(ctx, &params, *sent.Pet)
		return created.JSON201, created.JSON400, ""
	}
	if sent.Id != 0 {
		pet, _ := api.GetPetWithResponse(ctx, sent.Id)
		if pet.StatusCode() == http.StatusTeapot { // only documented statuses have a field
			return nil, json.RawMessage(pet.Body), ""
		}
		return pet.JSON200, pet.JSON400, ""
	}
	page, _ := api.ListPetsWithResponse(ctx, &petstore.ListPetsParams{Limit: &limit, Cursor: sent.Cursor})
	if page.JSON401 != nil {
		return nil, page.JSON401, ""
	}
	return page.JSON200, page.JSON400, page.HTTPResponse.Header.Get("Link")
}

func main() {
	for input := json.NewDecoder(os.Stdin); input.More(); {
		var sent call
		input.Decode(&sent)
		data, failure, link := send(sent)
		json.NewEncoder(os.Stdout).Encode(map[string]any{"data": data, "error": failure, "link": link})
	}
}
