// Client of the pet store API. It needs Node.js 22 or newer, and no packages.
//
//   const store = new PetStore(baseUrl, apiKey);
//   const rex = await store.createPet({ name: 'Rex', categoryId: 7n }, idempotencyKey);
//   for await (const pet of store.listPets({ status: 'available' })) console.log(pet.name);

export type PetStatus = 'available' | 'pending' | 'sold';
export type NewPet = { name: string; categoryId: bigint; status?: PetStatus | undefined };
export type Pet = NewPet & { id: bigint };

/** A response that is not a success, or a success whose body is not as expected. */
export class PetStoreError extends Error {
  readonly status: number;
  /** Code of the error, such as `invalid_request`. AWS can send error responses without a code. */
  readonly code: string | undefined;
  readonly requestId: string | undefined;

  constructor(status: number, code: string | undefined, requestId: string | undefined, message: string) {
    const start = code === undefined ? status : `${status} ${code}`;
    super(`${start}: ${message} (request ${requestId ?? 'without id'})`);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }
}

/** Client of one service. It retries requests after temporary errors. */
export class PetStore {
  readonly #baseUrl: string;
  readonly #apiKey: string;

  /** @throws TypeError if the base URL or the API key is missing or malformed */
  constructor(baseUrl: string | undefined, apiKey: string | undefined) {
    this.#baseUrl = normalizedBaseUrl(baseUrl?.trim() ?? '');
    this.#apiKey = apiKey?.trim() ?? '';
    if (!/^[!-~]+$/.test(this.#apiKey))
      throw new TypeError('The API key must consist of visible ASCII characters.');
  }

  /**
   * Yields all pets that match the query, newest first. Requests each page only when its first pet is needed.
   *
   * @param query the status of the pets, by default any, and the number of pets per page, by default 100
   * @throws PetStoreError if the service returns an error response, after retries if the error is temporary
   * @throws Error if no complete response arrives after the retries, or if the link to the next page is not acceptable
   */
  async *listPets(
    query: { status?: PetStatus | undefined; limit?: number | undefined } = {},
  ): AsyncGenerator<Pet> {
    const first = new URL(`${this.#baseUrl}/pets`);
    first.searchParams.set('limit', String(query.limit ?? 100));
    if (query.status) first.searchParams.set('status', query.status);
    let page: string | undefined = first.href;
    const requested = new Set<string>();
    while (page !== undefined) {
      if (requested.has(page))
        throw new Error(clean(`The list has no end, because it links to ${page} again.`, this.#apiKey));
      requested.add(page);
      const { headers, body } = await this.#send('array', page);
      yield* body as Pet[];
      page = nextPage(headers.get('Link') ?? '', page, this.#baseUrl, this.#apiKey);
    }
  }

  /**
   * Creates a pet, and returns it with its id.
   *
   * @param idempotencyKey key that you generate once per pet, such as a UUID, and store with the pet until the call
   *   returns. Within 24 hours, all calls with this key create only one pet.
   * @throws TypeError if the idempotency key is missing or malformed
   * @throws PetStoreError if the service returns an error response, after retries if the error is temporary
   * @throws Error if no complete response arrives after the retries
   */
  async createPet(pet: NewPet, idempotencyKey: string): Promise<Pet> {
    if (typeof idempotencyKey !== 'string' || !/^[!-~](?:[ -~]*[!-~])?$/.test(idempotencyKey))
      throw new TypeError(
        'An idempotency key of ASCII characters is missing. Generate one per pet, and store it.',
      );
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey };
    const init = { method: 'POST', headers, body: stringify(pet) };
    return (await this.#send('object', `${this.#baseUrl}/pets`, init)).body as Pet;
  }

  /** Sends a request with retries. A create must have an idempotency key, so that it creates only one pet. */
  async #send(kind: 'array' | 'object', url: string, init: RequestInit = {}) {
    const headers = new Headers(init.headers);
    headers.set('Authorization', `Bearer ${this.#apiKey}`);
    const end = performance.now() + 120_000;
    for (let attempt = 1; ; attempt += 1) {
      let failure: unknown;
      let retryAfter = '';
      try {
        const signal = AbortSignal.timeout(30_000);
        const response = await fetch(url, { ...init, headers, redirect: 'manual', signal });
        const content = await response.arrayBuffer();
        if (response.ok)
          return { headers: response.headers, body: parse(response, content, kind, this.#apiKey) };
        failure = errorOf(response, content, this.#apiKey);
        retryAfter = response.headers.get('Retry-After')?.trim() ?? '';
      } catch (error) {
        failure = error; // a timeout, a lost connection or a body that is not as expected
      }
      if (failure instanceof PetStoreError && !isTemporary(failure.status)) throw failure;
      const delay = retryDelay(retryAfter, attempt);
      if (attempt === 6 || performance.now() + delay > end) throw failure;
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
}

// These patterns match links and their parameters (RFC 8288, 3). Quoted texts can contain delimiters. The patterns take
// linear time, because they accept a quoted text without an end.
const LINK = /<([^<>]*)>((?:[^",]|"(?:[^"\\]|\\.)*"?)*)/g;
const PARAMETER = /;\s*([^\s;=]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s;]*)))?/g;

/** Returns the URL of the first link with `rel="next"`, or undefined if there is none. */
function nextPage(links: string, page: string, baseUrl: string, apiKey: string): string | undefined {
  for (const [, target = '', parameters = ''] of links.matchAll(LINK)) {
    const values = new Map<string, string>();
    for (const [, name = '', quoted, token = ''] of parameters.matchAll(PARAMETER)) {
      const key = name.toLowerCase();
      if (!values.has(key)) values.set(key, quoted ?? token); // a repeated parameter has its first value
    }
    const relations = (values.get('rel') ?? '').toLowerCase().split(/\s+/);
    if (values.has('anchor') || !relations.includes('next')) continue; // a link of another page or relation
    const url = /^[!-~]*$/.test(target) ? URL.parse(target, page) : null;
    if (url) url.hash = '';
    if (url?.href.startsWith(`${baseUrl}/`)) return url.href;
    const message = `The next page, ${url?.href ?? target}, is not below ${baseUrl}. The client did not send the API key there.`;
    throw new Error(clean(message, apiKey));
  }
  return undefined;
}

// This pattern matches the three forms of an HTTP date (RFC 9110, 5.6.7). The last form means GMT without naming it.
const HTTP_DATE =
  /^(?:(\w{3}, \d\d \w{3} \d{4} [\d:]{8}|\w{6,9}, \d\d-\w{3}-\d\d [\d:]{8}) GMT|(\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}))$/;

/** Milliseconds of a year. */
const YEAR = 365.25 * 24 * 60 * 60 * 1_000;

/** Returns the milliseconds before the next attempt: Retry-After (RFC 9110, 10.2.3), or backoff with full jitter. */
function retryDelay(retryAfter: string, attempt: number): number {
  if (/^\d+$/.test(retryAfter)) return 1_000 * Number(retryAfter);
  const [, withZone, withoutZone] = HTTP_DATE.exec(retryAfter) ?? [];
  const delay = Date.parse(`${withZone ?? withoutZone} GMT`) - Date.now();
  if (Number.isNaN(delay)) return Math.random() * 1_000 * 2 ** (attempt - 1);
  // A date with a year of two digits is at most 50 years away, but Date.parse reads 50 as 1950.
  const isAhead = retryAfter.includes('-') && delay < -50 * YEAR;
  return Math.max(0, isAhead ? delay + 100 * YEAR : delay);
}

function isTemporary(status: number): boolean {
  return status >= 500 || status === 408 || status === 429;
}

const BASE_URL = /^https?:\/\/[^\s/?#@\\%]+(?:\/(?:[\w.~!$&'()*+,;=:@-]|%[\da-f]{2})*)*$/i;
const DOT_SEGMENT = /%2e|\/\.\.?(?:\/|$)/i;

function normalizedBaseUrl(text: string): string {
  const url = BASE_URL.test(text) && !DOT_SEGMENT.test(text) ? URL.parse(text) : null;
  if (!url || url.port === '0')
    throw new TypeError(
      'The base URL must be an http or https URL without credentials, query, fragment, dot segments and "%2e", such as https://api.example.com/v1.',
    );
  return url.href.replace(/\/+$/, '');
}

function errorOf(response: Response, content: ArrayBuffer, apiKey: string): PetStoreError {
  const text = new TextDecoder().decode(content);
  try {
    const { code, message } = JSON.parse(text);
    if (typeof code === 'string' && typeof message === 'string')
      return newError(response, apiKey, message, code);
  } catch {} // AWS can send a body that is not JSON
  return newError(response, apiKey, text);
}

function newError({ status, headers }: Response, apiKey: string, message: string, code?: string) {
  const requestId = headers.get('x-amzn-RequestId') ?? undefined;
  return new PetStoreError(
    status,
    code && clean(code, apiKey),
    requestId && clean(requestId, apiKey),
    clean(message, apiKey).slice(0, 1_000),
  );
}

/** Returns a text of a response without the API key and control characters, so that an error can contain it. */
function clean(text: string, apiKey: string): string {
  // Control characters could change a terminal or forge lines in a log.
  return text.replaceAll(apiKey, '<API key>').replaceAll(/\p{Cc}+/gu, ' ');
}

// JSON.parse and JSON.rawJSON keep all 64 bits of an integer, but TypeScript does not declare this yet:
// https://tc39.es/proposal-json-parse-with-source/
const { rawJSON } = JSON as unknown as { rawJSON?: (text: string) => unknown };
if (!rawJSON) throw new Error('This engine has no JSON.rawJSON, so it would round integers.');

/** Returns the JSON of a pet. By default, JSON.stringify rejects its integers, because they are bigints. */
export function stringify(pet: NewPet): string {
  return JSON.stringify(pet, (_key, value: unknown) =>
    typeof value === 'bigint' ? rawJSON!(`${value}`) : value,
  );
}

/** Parses the body of a success. @throws PetStoreError if the body is not JSON of the expected kind */
function parse(response: Response, content: ArrayBuffer, kind: 'array' | 'object', apiKey: string): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
    const body: unknown = JSON.parse(text, (key, value: unknown, context?: { source?: string }) => {
      const isInteger = (key === 'id' || key === 'categoryId') && /^-?\d+$/.test(context?.source ?? '');
      return isInteger ? BigInt(context!.source!) : value;
    });
    if (typeof body === 'object' && body !== null && Array.isArray(body) === (kind === 'array')) return body;
  } catch {} // reported below
  throw newError(response, apiKey, `The body is not a JSON ${kind}: ${new TextDecoder().decode(content)}`);
}
