import { parseJson } from '../../shared/json.ts';

/** The service under test, as the environment names it. */
export const baseAddress = process.env['BASE_URL'] ?? '';
export const apiKey = process.env['API_KEY'] ?? '';

export interface Answer {
  status: number;
  headers: Headers;
  /** The body with its integers as bigint. */
  body: any;
}

type Init = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> };

/** A request with the key; `address` is below the base address, or absolute. */
export async function request(address: string, init: Init = {}): Promise<Answer> {
  return anonymousRequest(address, {
    ...init,
    headers: { Authorization: `Bearer ${apiKey}`, ...init.headers },
  });
}

export async function anonymousRequest(address: string, init: Init = {}): Promise<Answer> {
  const url = address.startsWith('http') ? address : `${baseAddress}${address}`;
  const response = await fetch(url, init);
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : parseJson(text),
  };
}

/** Adds a pet; `body` is an object, or the text to send as it is. */
export async function postPet(body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return request('/pets', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** The address in a Link header with this relation (RFC 8288). */
export function linkTo(relation: string, { headers }: Answer): string | undefined {
  return new RegExp(`<([^>]*)>; rel="${relation}"`).exec(headers.get('Link') ?? '')?.[1];
}
