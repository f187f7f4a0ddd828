// Client of the pet store API. It needs Go 1.23 and only the standard library.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Pet is a pet that the store offers. The service assigns the ID.
type Pet struct {
	ID         int64  `json:"id,omitempty"`
	Name       string `json:"name"` // such as Rex
	CategoryID int64  `json:"categoryId"`
	Status     string `json:"status,omitempty"`
}

// Error is an error response. AWS can send a response without an Error body, so Code can be empty.
type Error struct {
	Status                   int
	Code, Message, RequestID string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%d %s: %s (request %s)", e.Status, e.Code, e.Message, e.RequestID)
}

// Client sends requests with retries. BaseURL ends in /v1, without a slash.
type Client struct{ BaseURL, APIKey string }

var httpClient = http.Client{
	Timeout:       30 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}
var nextLink = regexp.MustCompile(`<([^>]*)>; rel="next"`)

// ListPets yields all pets that match the query, newest first. The query can contain status and limit (the page size).
// An error ends the iteration.
func (c Client) ListPets(ctx context.Context, query url.Values) iter.Seq2[Pet, error] {
	return func(yield func(Pet, error) bool) {
		page := c.BaseURL + "/pets?" + query.Encode()
		for page != "" {
			var pets []Pet
			headers, err := c.send(ctx, "GET", page, nil, nil, &pets)
			if err != nil {
				yield(Pet{}, err)
				return
			}
			for _, pet := range pets {
				if !yield(pet, nil) {
					return
				}
			}
			page = ""
			if link := nextLink.FindStringSubmatch(strings.Join(headers.Values("Link"), ",")); link != nil {
				page = link[1]
			}
		}
	}
}

// CreatePet creates a pet. Generate one idempotency key per pet. Within 24 hours, calls with this key create only one
// pet.
func (c Client) CreatePet(ctx context.Context, pet Pet, idempotencyKey string) (created Pet, err error) {
	body, err := json.Marshal(pet)
	if err == nil {
		headers := map[string]string{"Content-Type": "application/json", "Idempotency-Key": idempotencyKey}
		_, err = c.send(ctx, "POST", c.BaseURL+"/pets", headers, body, &created)
	}
	return created, err
}

// send sends a request with retries. The request must be a read, or a create with an Idempotency-Key.
func (c Client) send(
	ctx context.Context, method, target string, headers map[string]string, body []byte, result any,
) (http.Header, error) {
	if !strings.HasPrefix(target, c.BaseURL+"/") {
		return nil, fmt.Errorf("the key for %s must not be sent to %s", c.BaseURL, target)
	}
	end := time.Now().Add(2 * time.Minute)
	for attempt := 1; ; attempt++ {
		request, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+c.APIKey)
		for name, value := range headers {
			request.Header.Set(name, value)
		}
		response, content, err := exchange(request)
		pause := time.Duration(rand.Int64N(int64(time.Second) << (attempt - 1)))
		isFinal := attempt == 6
		if err == nil {
			if response.StatusCode < 300 {
				return response.Header, json.Unmarshal(content, result)
			}
			err = errorOf(response, content)
			isFinal = isFinal || response.StatusCode < 500 && response.StatusCode != 408 && response.StatusCode != 429
			if seconds, parseErr := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 31); parseErr == nil {
				pause = time.Duration(seconds) * time.Second
			}
		}
		if isFinal || ctx.Err() != nil || time.Now().Add(pause).After(end) {
			return nil, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// exchange sends a request once. It returns an error if no complete response arrives.
func exchange(request *http.Request) (*http.Response, []byte, error) {
	response, err := httpClient.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response, content, err
}

func errorOf(response *http.Response, content []byte) error {
	result := &Error{Message: string(content[:min(len(content), 200)])}
	_ = json.Unmarshal(content, result) // the body may not be JSON
	result.Status, result.RequestID = response.StatusCode, response.Header.Get("x-amzn-RequestId")
	return result
}
