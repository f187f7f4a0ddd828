package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"time"

	openapi "example.com/first/client"
)

// Call is a request from the test.
type Call struct {
	APIKey, Key, Cursor string
	ID                  int64
	Pet                 *openapi.PetToAdd
}

type Result struct {
	Status int    `json:"status"`
	Data   any    `json:"data,omitempty"`
	Error  any    `json:"error,omitempty"`
	Link   string `json:"link,omitempty"`
}

func main() {
	for input := json.NewDecoder(os.Stdin); input.More(); {
		var call Call
		check(input.Decode(&call))
		check(json.NewEncoder(os.Stdout).Encode(send(os.Getenv("BASE_URL"), call)))
	}
}

func send(baseURL string, call Call) Result {
	configuration := openapi.NewConfiguration()
	configuration.Servers = openapi.ServerConfigurations{{URL: baseURL}}
	configuration.HTTPClient = &http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	api := openapi.NewAPIClient(configuration).PetsAPI
	ctx := context.WithValue(context.Background(), openapi.ContextAccessToken, call.APIKey)
	if call.Pet != nil {
		return resultOf(api.CreatePet(ctx).PetToAdd(*call.Pet).IdempotencyKey(call.Key).Execute())
	}
	if call.ID != 0 {
		return resultOf(api.GetPet(ctx, call.ID).Execute())
	}
	list := api.ListPets(ctx).Limit(2)
	if call.Cursor != "" {
		list = list.Cursor(call.Cursor)
	}
	return resultOf(list.Execute())
}

func resultOf[Data any](data Data, response *http.Response, err error) Result {
	result := Result{Status: response.StatusCode, Link: response.Header.Get("Link")}
	if failure, ok := err.(*openapi.GenericOpenAPIError); ok {
		result.Error = failure.Model() // nil if AWS sent a body that is not an Error
		return result
	}
	check(err)
	result.Data = data
	return result
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
