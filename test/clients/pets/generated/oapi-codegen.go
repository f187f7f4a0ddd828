package main

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	petstore "example.com/driver/client"
)

type NewPet = petstore.NewPet

func send(baseURL string, call Call) (result Result) {
	timeout := petstore.WithHTTPClient(&http.Client{Timeout: 30 * time.Second})
	key := petstore.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+call.APIKey)
		return nil
	})
	client, err := petstore.NewClientWithResponses(baseURL, timeout, key)
	check(err)
	ctx := context.Background()
	if call.Pet != nil {
		response, err := client.CreatePetWithResponse(ctx, &petstore.CreatePetParams{IdempotencyKey: &call.Key}, *call.Pet)
		check(err)
		return resultOf(response.HTTPResponse, response.JSON201, response.Body)
	}
	if call.ID != 0 {
		response, err := client.GetPetWithResponse(ctx, call.ID)
		check(err)
		return resultOf(response.HTTPResponse, response.JSON200, response.Body)
	}
	query := petstore.ListPetsParams{Limit: new(int32)}
	*query.Limit = 2
	if call.Cursor != "" {
		query.Cursor = &call.Cursor
	}
	response, err := client.ListPetsWithResponse(ctx, &query)
	check(err)
	return resultOf(response.HTTPResponse, response.JSON200, response.Body)
}

func resultOf[Data any](response *http.Response, data *Data, body []byte) Result {
	result := Result{Status: response.StatusCode, Link: response.Header.Get("Link")}
	var failure petstore.Error
	if data != nil {
		result.Data = data
	} else if json.Unmarshal(body, &failure) == nil {
		result.Error = failure
	}
	return result
}
