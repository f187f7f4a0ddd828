import { createInterface } from 'node:readline';
import createClient from 'openapi-fetch';
import type { components, paths } from './api.d.ts';

type Schemas = components['schemas'];
type Call = { apiKey: string; key: string; cursor?: string; id?: number; pet?: Schemas['NewPet'] };
type Result = { data?: Schemas['Pet'] | Schemas['Pet'][]; error?: Schemas['Error']; response: Response };

const client = createClient<paths>({ baseUrl: process.env['BASE_URL']!, redirect: 'error' });

function send({ apiKey, key, cursor, id, pet }: Call): Promise<Result> {
  const headers = { Authorization: `Bearer ${apiKey}` };
  const signal = AbortSignal.timeout(30_000);
  const header = { 'Idempotency-Key': key };
  if (pet) return client.POST('/pets', { headers, signal, params: { header }, body: pet });
  if (id !== undefined)
    return client.GET('/pets/{petId}', { headers, signal, params: { path: { petId: id } } });
  return client.GET('/pets', { headers, signal, params: { query: { limit: 2, cursor } } });
}

for await (const line of createInterface({ input: process.stdin })) {
  const { data, error, response } = await send(JSON.parse(line) as Call);
  console.log(JSON.stringify({ status: response.status, data, error, link: response.headers.get('Link') }));
}
