// Client of the pet store API. It needs Go 1.23 or newer, and no packages.
//
//	store, err := NewPetStore(baseURL, apiKey)
//	rex, err := store.CreatePet(ctx, NewPet{Name: "Rex", CategoryID: 7}, idempotencyKey)
//	for pet, err := range store.ListPets(ctx, PetQuery{Status: "available"}) { … }
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// NewPet is a pet to create. Its status is available, pending, sold or empty.
type NewPet struct {
	Name       string `json:"name"`
	CategoryID int64  `json:"categoryId"`
	Status     string `json:"status,omitempty"`
}

// Pet is a pet that the service has stored.
type Pet struct {
	ID int64 `json:"id"`
	NewPet
}

// PetQuery selects pets. Without a status, it selects all pets. Limit is the number of pets per page, by default 100.
type PetQuery struct {
	Status string
	Limit  int
}

// PetStoreError is a response that is not a success, or a success whose body is not as expected. Code is the code of
// the error, such as invalid_request. AWS can send error responses without a code.
type PetStoreError struct {
	Status                   int
	Code, Message, RequestID string
}

func (e *PetStoreError) Error() string {
	start := strings.TrimSpace(fmt.Sprint(e.Status, " ", e.Code))
	return fmt.Sprintf("%s: %s (request %s)", start, e.Message, cmp.Or(e.RequestID, "without id"))
}

// PetStore sends requests with retries.
type PetStore struct {
	baseURL string
	// These functions contain the API key. A string would reveal it, because fmt prints all fields of a struct.
	authorize func(http.Header)
	clean     func(string) string
}

// NewPetStore returns a client, or an error if the base URL or the API key is missing or malformed.
func NewPetStore(baseURL, apiKey string) (*PetStore, error) {
	baseURL = strings.TrimSpace(baseURL)
	base := normalized(baseURL)
	if base == "" || !baseURLForm.MatchString(baseURL) || dotSegment.MatchString(baseURL) {
		return nil, errors.New("the base URL must be an http or https URL in ASCII (with other hosts as xn--…) " +
			`without credentials, query, fragment, dot segments and "%2e", such as https://api.example.com/v1`)
	}
	key := strings.TrimSpace(apiKey)
	if !visibleASCII.MatchString(key) {
		return nil, errors.New("the API key must consist of visible ASCII characters")
	}
	authorize := func(headers http.Header) { headers.Set("Authorization", "Bearer "+key) }
	// Control characters could change a terminal or forge lines in a log.
	clean := func(text string) string {
		return controls.ReplaceAllString(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), key, "<API key>"), " ")
	}
	return &PetStore{strings.TrimRight(base, "/"), authorize, clean}, nil
}

// ListPets yields all pets that match the query, newest first. It requests each page only when its first pet is needed.
// An error, such as a PetStoreError, ends the iteration.
func (s *PetStore) ListPets(ctx context.Context, query PetQuery) iter.Seq2[Pet, error] {
	return func(yield func(Pet, error) bool) {
		values := url.Values{"limit": {strconv.Itoa(cmp.Or(query.Limit, 100))}}
		if query.Status != "" {
			values.Set("status", query.Status)
		}
		page := s.baseURL + "/pets?" + values.Encode()
		requested := map[string]bool{}
		for page != "" {
			if requested[page] {
				yield(Pet{}, errors.New(s.clean("the list has no end, because it links to "+page+" again")))
				return
			}
			requested[page] = true
			var pets []Pet
			headers, err := s.send(ctx, "GET", page, nil, nil, &pets)
			if err != nil {
				yield(Pet{}, err)
				return
			}
			for _, pet := range pets {
				if !yield(pet, nil) {
					return
				}
			}
			page, err = s.nextPage(strings.Join(headers.Values("Link"), ", "), page)
			if err != nil {
				yield(Pet{}, err)
				return
			}
		}
	}
}

// CreatePet creates a pet, and returns it with its ID. Generate one idempotency key per pet, such as a UUID, and store it
// with the pet until the call returns. Within 24 hours, all calls with this key create only one pet. The error is a
// PetStoreError if the service returns an error response, after retries if the error is temporary.
func (s *PetStore) CreatePet(ctx context.Context, pet NewPet, idempotencyKey string) (created Pet, err error) {
	if !headerText.MatchString(idempotencyKey) {
		return created, errors.New("an idempotency key of ASCII characters is missing: generate one per pet, and store it")
	}
	body, err := json.Marshal(pet)
	if err != nil {
		return created, err
	}
	headers := map[string]string{"Content-Type": "application/json", "Idempotency-Key": idempotencyKey}
	_, err = s.send(ctx, "POST", s.baseURL+"/pets", headers, body, &created)
	return created, err
}

// send sends a request with retries. A create must have an idempotency key, so that it creates only one pet.
func (s *PetStore) send(
	ctx context.Context, method, target string, headers map[string]string, body []byte, result any,
) (http.Header, error) {
	end := time.Now().Add(2 * time.Minute)
	for attempt := 1; ; attempt++ {
		request, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		for name, value := range headers {
			request.Header.Set(name, value)
		}
		s.authorize(request.Header)
		retryAfter := ""
		response, content, err := exchange(request)
		if err == nil {
			status := response.StatusCode
			if 200 <= status && status < 300 {
				return response.Header, s.parse(response, content, result)
			}
			err = s.errorOf(response, content)
			if status < 500 && status != 408 && status != 429 {
				return nil, err
			}
			retryAfter = strings.Join(response.Header.Values("Retry-After"), ", ")
		}
		delay := retryDelay(retryAfter, attempt)
		if attempt == 6 || ctx.Err() != nil || delay > time.Until(end) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(delay):
		}
	}
}

// These patterns match links and their parameters (RFC 8288, 3). Quoted texts can contain delimiters.
var (
	link      = regexp.MustCompile(`<([^<>]*)>((?:[^",]|"(?:[^"\\]|\\.)*"?)*)`)
	parameter = regexp.MustCompile(`;\s*([^\s;=]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s;]*)))?`)
)

// nextPage returns the URL of the first link with rel="next", or an empty text if there is none.
func (s *PetStore) nextPage(links, page string) (string, error) {
	for _, match := range link.FindAllStringSubmatch(links, -1) {
		target, values := match[1], map[string]string{}
		for _, match := range parameter.FindAllStringSubmatch(match[2], -1) {
			name := strings.ToLower(match[1])
			if _, isRepeated := values[name]; !isRepeated { // a repeated parameter has its first value
				values[name] = match[2] + match[3]
			}
		}
		relations := strings.Fields(strings.ToLower(values["rel"]))
		if _, hasAnchor := values["anchor"]; hasAnchor || !slices.Contains(relations, "next") {
			continue // a link of another page or relation
		}
		next := normalized(resolved(target, page))
		if strings.HasPrefix(next, s.baseURL+"/") {
			return next, nil
		}
		message := "the next page, %s, is not below %s; the client did not send the API key there"
		return "", errors.New(s.clean(fmt.Sprintf(message, resolved(target, page), s.baseURL)))
	}
	return "", nil
}

var digits = regexp.MustCompile(`^[0-9]+$`)

// retryDelay returns the time before the next attempt: Retry-After (RFC 9110, 10.2.3), or backoff with full jitter.
func retryDelay(retryAfter string, attempt int) time.Duration {
	if digits.MatchString(retryAfter) {
		seconds, _ := strconv.ParseFloat(retryAfter, 64) // infinite after an overflow
		return time.Duration(min(seconds, 1e6)) * time.Second
	}
	if date, err := http.ParseTime(retryAfter); err == nil {
		// A date with a year of two digits is at most 50 years away, but ParseTime reads 69 as 1969.
		if strings.Contains(retryAfter, "-") && date.Before(time.Now().AddDate(-50, 0, 0)) {
			date = date.AddDate(100, 0, 0)
		}
		return time.Until(date)
	}
	return time.Duration(rand.Int64N(int64(time.Second) << (attempt - 1)))
}

var httpClient = http.Client{
	Timeout:       30 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// exchange sends a request once. It returns an error if no complete response arrives in time.
func exchange(request *http.Request) (*http.Response, []byte, error) {
	response, err := httpClient.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response, content, err
}

var (
	visibleASCII = regexp.MustCompile(`^[!-~]+$`)
	headerText   = regexp.MustCompile(`^[!-~](?:[ -~]*[!-~])?$`)
	controls     = regexp.MustCompile(`\p{Cc}+`)
	baseURLForm  = regexp.MustCompile(`^[^/]+//[^/]+(?:/(?:[\w.~!$&'()*+,;=:@-]|%[[:xdigit:]]{2})*)*$`)
	dotSegment   = regexp.MustCompile(`(?i)%2e|/\.\.?(?:/|$)`)
	dot          = regexp.MustCompile(`(?i)%2e`) // another form of "." (RFC 3986, 2.3), which net/url does not know
)

// resolved returns the absolute URL of a reference in a page, or the reference if it is malformed.
func resolved(reference, page string) string {
	base, err := url.Parse(page)
	if err != nil {
		return reference
	}
	target, err := base.Parse(dot.ReplaceAllString(reference, "."))
	if err != nil {
		return reference
	}
	target.Fragment = ""
	return target.String()
}

// normalized returns an http or https URL with a lowercase scheme and host and no default port, or an empty text if the
// URL is malformed or contains credentials.
func normalized(text string) string {
	target, err := url.Parse(text)
	if err != nil || !visibleASCII.MatchString(text) || target.Hostname() == "" || target.User != nil {
		return ""
	}
	defaultPort, isHTTP := map[string]string{"http": "80", "https": "443"}[target.Scheme]
	port, err := strconv.ParseUint(cmp.Or(target.Port(), defaultPort), 10, 16)
	if err != nil || port == 0 || !isHTTP {
		return ""
	}
	target.Host = strings.ToLower(strings.TrimSuffix(target.Host, ":"+target.Port()))
	if text := strconv.FormatUint(port, 10); text != defaultPort {
		target.Host += ":" + text
	}
	return target.String()
}

func (s *PetStore) errorOf(response *http.Response, content []byte) error {
	var body struct{ Code, Message string }
	if json.Unmarshal(content, &body) != nil || body.Code == "" || body.Message == "" {
		return s.newError(response, "", string(content)) // AWS can send a body that is not JSON
	}
	return s.newError(response, body.Code, body.Message)
}

// parse parses the body of a success into result, which is a *[]Pet or a *Pet. It returns a PetStoreError if the body
// is not JSON of the expected kind.
func (s *PetStore) parse(response *http.Response, content []byte, result any) error {
	kind, start := "object", "{"
	if _, isArray := result.(*[]Pet); isArray {
		kind, start = "array", "["
	}
	err := json.Unmarshal(content, result)
	if err == nil && utf8.Valid(content) && strings.HasPrefix(strings.TrimSpace(string(content)), start) {
		return nil
	}
	return s.newError(response, "", fmt.Sprintf("the body is not a JSON %s: %s", kind, content))
}

func (s *PetStore) newError(response *http.Response, code, message string) error {
	message = fmt.Sprintf("%.1000s", s.clean(message))
	return &PetStoreError{response.StatusCode, s.clean(code), message, s.clean(response.Header.Get("x-amzn-RequestId"))}
}
