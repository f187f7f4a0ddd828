package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	petstore "example.com/driver/client"
)

type NewPet = petstore.NewPet

type key string

func (k key) BearerAuth(context.Context, petstore.OperationName) (petstore.BearerAuth, error) {
	return petstore.BearerAuth{Token: string(k)}, nil
}

type failure struct{ Result }

func (failure) Error() string { return "error response" }

type httpClient struct{ http.Client }

// Do returns error responses as errors, because ogen has a type per status and rejects error bodies that AWS sends.
func (c *httpClient) Do(request *http.Request) (*http.Response, error) {
	response, err := c.Client.Do(request)
	if err != nil || response.StatusCode < 400 {
		return response, err
	}
	defer response.Body.Close()
	var body json.RawMessage
	_ = json.NewDecoder(response.Body).Decode(&body)
	return nil, failure{Result{Status: response.StatusCode, Error: body}}
}

func send(baseURL string, call Call) Result {
	timeout := petstore.WithClient(&httpClient{http.Client{Timeout: 30 * time.Second}})
	client, err := petstore.NewClient(baseURL, key(call.APIKey), timeout)
	check(err)
	response, err := exchange(client, call)
	if found := (failure{}); errors.As(err, &found) {
		return found.Result
	}
	check(err)
	switch response := response.(type) {
	case *petstore.PetHeaders:
		return Result{Status: 201, Data: &response.Response}
	case *petstore.GetPetOKHeaders:
		return Result{Status: 200, Data: &response.Response}
	}
	list := response.(*petstore.ListPetsOKHeaders)
	return Result{Status: 200, Data: list.Response, Link: list.Link.Value}
}

func exchange(client *petstore.Client, call Call) (any, error) {
	ctx := context.Background()
	if call.Pet != nil {
		return client.CreatePet(ctx, call.Pet, petstore.CreatePetParams{IdempotencyKey: petstore.NewOptString(call.Key)})
	}
	if call.ID != 0 {
		return client.GetPet(ctx, petstore.GetPetParams{PetId: call.ID})
	}
	query := petstore.ListPetsParams{Limit: petstore.NewOptInt32(2)}
	if call.Cursor != "" {
		query.Cursor.SetTo(call.Cursor)
	}
	return client.ListPets(ctx, query)
}
