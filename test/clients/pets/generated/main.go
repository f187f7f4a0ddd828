package main

import (
	"encoding/json"
	"os"
)

// Call is a request from the test. Each driver sends the call with the client of one generator.
type Call struct {
	APIKey, Key, Cursor string
	ID                  int64
	Pet                 *NewPet
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

func check(err error) {
	if err != nil {
		panic(err)
	}
}
