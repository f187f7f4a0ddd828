// Client of the pet store API. It needs Node.js 22.1 or newer, and no packages.
//
//   const store = new PetStore(baseUrl, apiKey);
//   const rex = await store.createPet({ name: 'Rex', categoryId: 7n }, idempotencyKey);
//   for await (const pet of store.listPets({ status: 'available' })) console.log(pet.name);

const ATTEMPTS = 6;
/** Milliseconds after which an attempt fails. */
const TIMEOUT = 30_000;
/** Milliseconds after the first attempt in which a retry can start. */
const RETRY_PERIOD = 120_000;

export type PetStatus = 'available' | 'pending' | 'sold';
export type NewPet = { name: string; categoryId: bigint; status?: PetStatus | undefined };
export type Pet = NewPet & { id: bigint };

/** A response that is not a success, or a success whose body is not JSON. */
export class PetStoreError extends Error {
  readonly status: number;
  /** Code of the error, such as `invalid_request`. AWS can send error responses without a code. */
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  /** Seconds to wait before a retry, if the service asks for them. */
  readonly retryAfter: number | undefined;

  constructor(status: number, message: string, code?: string, requestId?: string, retryAfter?: number) {
    super(`${code ? `${status} ${code}` : status}: ${message} (request ${requestId ?? 'without id'})`);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

/** Client of one service. It retries requests after temporary errors. */
export class PetStore {
  readonly #baseUrl: string;
  readonly #apiKey: string;

  /** @throws TypeError if the base URL or the API key is missing or malformed */
  constructor(baseUrl: string | undefined, apiKey: string | undefined) {
    this.#baseUrl = checkedBaseUrl(baseUrl ?? '');
    this.#apiKey = apiKey?.trim() ?? '';
    if (!/^[!-~]+$/.test(this.#apiKey))
      throw new TypeError('The API key must consist of visible ASCII characters.');
  }

  /**
   * Yields all pets that match the query, newest first. Requests each page only when its first pet is needed.
   *
   * @param query the status of the pets, by default any
   * @throws PetStoreError if the service returns an error response, after retries if the error is temporary
   * @throws Error if no complete response arrives after the retries, or if the next page is not below the base URL
   */
  async *listPets({ status }: { status?: PetStatus | undefined } = {}): AsyncGenerator<Pet> {
    let page: string | undefined = `${this.#baseUrl}/pets?limit=100${status ? `&status=${status}` : ''}`;
    while (page !== undefined) {
      const { headers, body } = await this.#send(page);
      yield* body as Pet[];
      page = /<([^<>]*)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1];
      if (page !== undefined && !URL.parse(page)?.href.startsWith(`${this.#baseUrl}/`))
        throw new Error(`The next page is not below ${this.#baseUrl}, so the API key was not sent there.`);
    }
  }

  /**
   * Creates a pet, and returns it with its id.
   *
   * @param idempotencyKey key that you generate once per pet, such as a UUID, and store with the pet until the call
   *   returns. Within 24 hours, all calls with this key create only one pet.
   * @throws TypeError if the idempotency key is missing
   * @throws PetStoreError if the service returns an error response, after retries if the error is temporary
   * @throws Error if no complete response arrives after the retries
   */
  async createPet(pet: NewPet, idempotencyKey: string): Promise<Pet> {
    if (!idempotencyKey) throw new TypeError('The idempotency key is missing. Generate one per pet.');
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey };
    const init = { method: 'POST', headers, body: stringify(pet) };
    return (await this.#send(`${this.#baseUrl}/pets`, init)).body as Pet;
  }

  /** Sends a request, with retries after temporary errors. Each attempt sends the same bytes. */
  async #send(url: string, init: RequestInit = {}) {
    const headers = new Headers(init.headers);
    headers.set('Authorization', `Bearer ${this.#apiKey}`);
    const end = performance.now() + RETRY_PERIOD;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attempt(url, { ...init, headers });
      } catch (error) {
        const failure = error instanceof PetStoreError ? error : undefined; // otherwise, there was no response
        if (failure && !isTemporary(failure.status)) throw error;
        const seconds = Math.max(failure?.retryAfter ?? 0, Math.random() * 2 ** (attempt - 1));
        if (attempt === ATTEMPTS || performance.now() + 1_000 * seconds > end) throw error;
        await new Promise((resolve) => setTimeout(resolve, 1_000 * seconds));
      }
    }
  }

  async #attempt(url: string, init: RequestInit) {
    // A redirect could send the API key to another host.
    const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT) });
    const text = await response.text();
    const body = parse(text);
    if (response.ok && body !== undefined) return { headers: response.headers, body };

    // An error must neither contain the API key nor control characters, which could change a terminal.
    const clean = (value: unknown) =>
      String(value)
        .replaceAll(this.#apiKey, '<API key>')
        .replaceAll(/\p{Cc}+/gu, ' ')
        .slice(0, 1_000);
    const { code, message } = (body ?? {}) as { code?: unknown; message?: unknown };
    const requestId = response.headers.get('x-amzn-RequestId');
    const retryAfter = response.headers.get('Retry-After') ?? '';
    throw new PetStoreError(
      response.status,
      clean(message ?? text),
      code ? clean(code) : undefined,
      requestId ? clean(requestId) : undefined,
      /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined,
    );
  }
}

/** Returns the base URL without slashes at its end. @throws TypeError if it is neither https nor http to this machine */
function checkedBaseUrl(text: string): string {
  const url = URL.parse(text);
  const isLocal = url !== null && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && isLocal))
    throw new TypeError('The base URL must start with "https://", or with "http://localhost".');
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** Returns whether to retry. A failure with the status of a success had a body that was cut off. */
function isTemporary(status: number): boolean {
  return status < 300 || status === 408 || status === 429 || status >= 500;
}

// TypeScript does not declare JSON.rawJSON yet: https://tc39.es/proposal-json-parse-with-source/
const { rawJSON } = JSON as unknown as { rawJSON?: (text: string) => unknown };
if (!rawJSON) throw new Error('This engine has no JSON.rawJSON, so it would round integers.');

/** Returns the JSON of a pet. By default, JSON.stringify rejects its integers, because they are bigints. */
export function stringify(pet: NewPet): string {
  return JSON.stringify(pet, (_key, value: unknown) =>
    typeof value === 'bigint' ? rawJSON!(`${value}`) : value,
  );
}

/** Parses JSON, with all integers as bigints. Returns undefined if the text is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
      const source = context?.source ?? '';
      return /^-?\d+$/.test(source) ? BigInt(source) : value;
    });
  } catch {
    return undefined;
  }
}
