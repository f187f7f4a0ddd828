import type { components, operations } from './pet-store.d.ts';

type Schemas = components['schemas'];
type Exact<Schema> = { [Field in keyof Schema]: Field extends 'id' | 'categoryId' ? bigint : Schema[Field] };
export type Pet = Exact<Schemas['Pet']>;
export type NewPet = Exact<Schemas['NewPet']>;
export type ListQuery = Omit<NonNullable<operations['listPets']['parameters']['query']>, 'cursor'>;
export type Service = { baseUrl: string; apiKey: string };

/** An error response. AWS can send a response without an Error body, so `code` can be undefined. */
export class PetStoreError extends Error {
  readonly status: number;
  readonly code: string | undefined;
  readonly requestId: string | null;
  constructor({ status, headers }: Response, text: string) {
    const requestId = headers.get('x-amzn-RequestId');
    const { code, message = text.slice(0, 200) } = errorBody(text);
    super(`${status} ${code}: ${message} (request ${requestId})`);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }
}

/** Yields all pets that match the query, newest first. Requests each page only when its first pet is needed. */
export async function* listPets(service: Service, query: ListQuery = { limit: 100 }): AsyncGenerator<Pet> {
  let page: URL | undefined = new URL(`${service.baseUrl}/pets`);
  for (const [name, value] of Object.entries(query)) page.searchParams.set(name, String(value));
  while (page) {
    const { text, headers } = await send(service, page);
    yield* parse(text) as Pet[];
    const next = /<([^<>]*)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1];
    page = next === undefined ? undefined : new URL(next, page);
  }
}

/** Creates a pet. Generate one idempotency key per pet. Within 24 hours, calls with this key create only one pet. */
export async function createPet(service: Service, pet: NewPet, idempotencyKey: string): Promise<Pet> {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey };
  const url = new URL(`${service.baseUrl}/pets`);
  const { text } = await send(service, url, { method: 'POST', headers, body: stringify(pet) });
  return parse(text) as Pet;
}

/** Sends a request with retries. The request must be a read, or a create with an Idempotency-Key. */
async function send({ baseUrl, apiKey }: Service, url: URL, init: RequestInit = {}) {
  if (!url.href.startsWith(`${baseUrl}/`))
    throw new Error(`The key for ${baseUrl} must not be sent to ${url}.`);
  const request = new Request(url, { ...init, redirect: 'manual' });
  request.headers.set('Authorization', `Bearer ${apiKey}`);
  const end = Date.now() + 120_000;
  for (let attempt = 1; ; attempt += 1) {
    let wait = Math.random() * 1_000 * 2 ** (attempt - 1);
    let isFinal = attempt === 6;
    let failure: unknown;
    try {
      const response = await fetch(request.clone(), { signal: AbortSignal.timeout(30_000) });
      const text = await response.text();
      if (response.ok) return { text, headers: response.headers };
      failure = new PetStoreError(response, text);
      isFinal ||= response.status < 500 && ![408, 429].includes(response.status);
      const retryAfter = response.headers.get('Retry-After') ?? '';
      if (/^\d+$/.test(retryAfter)) wait = 1_000 * Number(retryAfter);
    } catch (error) {
      failure = error; // a timeout or a lost connection
    }
    if (isFinal || Date.now() + wait > end) throw failure;
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

function errorBody(text: string): { code?: string; message?: string } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

// TypeScript does not declare `context` and `rawJSON` yet: https://tc39.es/proposal-json-parse-with-source/
declare global {
  interface JSON {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): unknown;
  }
}
if (!('rawJSON' in JSON))
  throw new Error('This engine has no JSON.rawJSON, so it would round 64-bit integers.');

function parse(text: string): unknown {
  return JSON.parse(text, (key, value, { source }) =>
    typeof value === 'number' && (key === 'id' || key === 'categoryId') ? BigInt(source!) : value,
  );
}

function stringify(pet: NewPet): string {
  return JSON.stringify(pet, (_key, value: unknown) =>
    typeof value === 'bigint' ? JSON.rawJSON(`${value}`) : value,
  );
}
