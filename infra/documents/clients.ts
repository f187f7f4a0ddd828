import { globSync, readFileSync } from 'node:fs';
import { collections } from '../../shared/contract/operations.ts';
import { codeBlock, markdownList } from './markdown.ts';

/** Returns the generated parts of `docs/clients.md`. */
export function clientParts(): Record<string, Record<string, string>> {
  return {
    'docs/clients.md': { 'clients to copy': clientPages(), ...firstPrograms(), 'names in Go': goNames() },
  };
}

/** Returns links to the pages in `docs/clients`, and the first example in these pages that shows its output. */
function clientPages(): string {
  const pages = globSync('*.md', { cwd: 'docs/clients' })
    .toSorted()
    .map((file) => ({ file, text: readFileSync(`docs/clients/${file}`, 'utf8') }));
  const links = pages.map(({ file, text }) => `[${/^# (.+)$/m.exec(text)![1]!}](clients/${file})`);
  const examples = pages.flatMap(({ text }) => firstExample(text) ?? []);
  return [markdownList(links), ...examples.slice(0, 1)].join('\n');
}

/**
 * Returns a page's first example with output: its introduction, its code and the output. Returns undefined if the page has
 * no such example.
 */
function firstExample(page: string): string | undefined {
  const sections = page.split(/^(?=## )/m).slice(1);
  const examples = sections.flatMap((section) => {
    const [, language, text] = /^## (.+)\n\n([^]+?^```\n+```text output\n[^]*?^```\n)/m.exec(section) ?? [];
    if (!language || !text) return [];
    return [`For example, in ${language}:\n\n${text.replace(/\n+(?=```text output)/, '\n\nIt prints:\n\n')}`];
  });
  // Links in the page are relative to docs/clients, but the example is inserted into a page in docs.
  return examples[0]?.replaceAll('](', '](clients/').replaceAll('](clients/../', '](');
}

/**
 * Returns the commands that generate the client in Go. They rename a schema such as `NewBook`, because the client has a
 * function `NewBook` that creates a `Book`.
 */
function goNames(): string {
  const names = collections.flatMap(({ schemas }) => Object.keys(schemas));
  const mappings = names
    .filter((name) => names.some((constructed) => name === `New${constructed}`))
    .map((name) => ` \\\n  --model-name-mappings ${name}=${name.replace('New', '')}ToAdd`);
  return codeBlock(
    'sh client',
    [
      'venv/bin/openapi-generator-cli generate -g go -i openapi.json -o go/client',
      '--additional-properties=disallowAdditionalPropertiesIfNotPresent=false,withGoMod=false',
      '--global-property=apiTests=false,modelTests=false',
    ].join(' \\\n  ') + `${mappings.join('')}\ngo -C go mod init example.com/first`,
  );
}

/**
 * Returns a program for each language, by file. The program lists an item of the first collection with the generated
 * client.
 */
function firstPrograms(): Record<string, string> {
  const [{ operations, filters, path, plural }] = collections;
  const list = operations.list.id;
  const pascal = list.replace(/^./, (letter) => letter.toUpperCase());
  const snake = list.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const tag = plural.replaceAll(/(?:^|\W+)(\w)/g, (_, letter: string) => letter.toUpperCase());
  // In Java and Kotlin, a list has a positional argument for each parameter: the limit, the filters and the cursor.
  const page = ['1', ...Object.keys(filters).map(() => 'null'), 'null'].join(', ');
  const programs = {
    'ts typescript/main.mts': `
import createClient from 'openapi-fetch';
import type { paths } from './api.d.ts';

const client = createClient<paths>({
  baseUrl: process.env['BASE_URL']!,
  headers: { Authorization: \`Bearer \${process.env['API_KEY']}\` },
  redirect: 'error',
  fetch: (request) => fetch(request, { signal: AbortSignal.timeout(30_000) }),
});
const { data, error, response } = await client.GET('${path.replace(/^\/v\d+/, '')}', { params: { query: { limit: 1 } } });
console.log(response.status, data ?? error, response.headers.get('Link'));`,
    'python python/main.py': `
import os

from openapi_client import ApiClient, ApiException, Configuration, ${tag}Api

# With retries=False, urllib3 also follows no redirects, so no other host gets the API key.
configuration = Configuration(host=os.environ["BASE_URL"], access_token=os.environ["API_KEY"], retries=False)
api = ${tag}Api(ApiClient(configuration))
try:
    response = api.${snake}_with_http_info(limit=1, _request_timeout=30)
    headers = {name.lower(): value for name, value in response.headers.items()}
    print(response.status_code, response.data, headers.get("link"))
except ApiException as error:
    print(error.status, error.body)`,
    'go go/main.go': `
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	openapi "example.com/first/client"
)

func main() {
	configuration := openapi.NewConfiguration()
	configuration.Servers = openapi.ServerConfigurations{{URL: os.Getenv("BASE_URL")}}
	configuration.HTTPClient = &http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	ctx := context.WithValue(context.Background(), openapi.ContextAccessToken, os.Getenv("API_KEY"))
	items, response, err := openapi.NewAPIClient(configuration).${tag}API.${pascal}(ctx).Limit(1).Execute()
	if response == nil {
		fmt.Println(err)
		return
	}
	list, _ := json.Marshal(items)
	fmt.Println(response.StatusCode, string(list), response.Header.Get("Link"), err)
}`,
    'java java/src/main/java/Main.java': `
import java.time.Duration;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.${tag}Api;

public class Main {
  public static void main(String[] arguments) {
    var client = new ApiClient()
        .setReadTimeout(Duration.ofSeconds(30))
        .setRequestInterceptor(request -> request.header("Authorization", "Bearer " + System.getenv("API_KEY")));
    client.updateBaseUri(System.getenv("BASE_URL"));
    try {
      var response = new ${tag}Api(client).${list}WithHttpInfo(${page});
      System.out.println(response.getStatusCode() + " " + response.getData() + response.getHeaders().get("link"));
    } catch (ApiException exception) {
      System.out.println(exception.getCode() + " " + exception.getResponseBody());
    }
  }
}`,
    'kotlin kotlin/src/main/kotlin/Main.kt': `
import java.util.concurrent.TimeUnit
import okhttp3.OkHttpClient
import org.openapitools.client.apis.${tag}Api
import org.openapitools.client.infrastructure.ApiClient
import org.openapitools.client.infrastructure.ClientError
import org.openapitools.client.infrastructure.ServerError
import org.openapitools.client.infrastructure.Success

fun main() {
    ApiClient.accessToken = System.getenv("API_KEY")
    val http = OkHttpClient.Builder()
        .callTimeout(30, TimeUnit.SECONDS)
        .readTimeout(30, TimeUnit.SECONDS)
        .followRedirects(false)
        .build()
    val response = ${tag}Api(System.getenv("BASE_URL"), http).${list}WithHttpInfo(${page})
    when (response) {
        is Success -> println("\${response.statusCode} \${response.data} \${response.headers["link"]}")
        is ClientError -> println("\${response.statusCode} \${response.body}")
        is ServerError -> println("\${response.statusCode} \${response.body}")
        else -> println(response.statusCode)
    }
}`,
    'php php/main.php': `
<?php
require __DIR__ . '/vendor/autoload.php';

use GuzzleHttp\\Client;
use OpenAPI\\Client\\Api\\${tag}Api;
use OpenAPI\\Client\\ApiException;
use OpenAPI\\Client\\Configuration;

$configuration = (new Configuration())->setHost(getenv('BASE_URL'))->setAccessToken(getenv('API_KEY'));
$api = new ${tag}Api(new Client(['timeout' => 30, 'allow_redirects' => false]), $configuration);
try {
    [$data, $status, $headers] = $api->${list}WithHttpInfo(limit: 1);
    echo $status, ' ', json_encode($data), ' ', array_change_key_case($headers)['link'][0] ?? '', "\\n";
} catch (ApiException $exception) {
    echo $exception->getCode(), ' ', $exception->getResponseBody(), "\\n";
}`,
    'rust rust/src/main.rs': `
use client::{Client, Error};
use reqwest::{header, redirect};
use std::{env, time::Duration};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut key = header::HeaderValue::from_str(&format!("Bearer {}", env::var("API_KEY")?))?;
    key.set_sensitive(true);
    let http = reqwest::Client::builder()
        .default_headers([(header::AUTHORIZATION, key)].into_iter().collect())
        .timeout(Duration::from_secs(30))
        .redirect(redirect::Policy::none())
        .build()?;
    let client = Client::new_with_client(&env::var("BASE_URL")?, http);
    match client.${snake}().limit(1).send().await {
        Ok(response) => println!("{} {:?} {:?}", response.status(), *response, response.headers().get("link")),
        Err(Error::ErrorResponse(response)) => println!("{} {:?}", response.status(), *response),
        Err(error) => println!("{:?} {error}", error.status()),
    }
    Ok(())
}`,
  };
  return Object.fromEntries(
    Object.entries(programs).map(([info, code]) => {
      const [, file] = info.split(' ');
      return [file!, `Save this program as \`${file}\`:\n\n${codeBlock(info, code.trim())}`];
    }),
  );
}
