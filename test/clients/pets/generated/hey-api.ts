import { createInterface } from 'node:readline';
import { createPet, type Error, getPet, listPets, type NewPet, type Pet } from './client';
import { client } from './client/client.gen';

type Call = { apiKey: string; key: string; cursor?: string; id?: number; pet?: NewPet };
type Result = { data?: Pet | Pet[] | undefined; error?: Error | undefined; response?: Response | undefined };

client.setConfig({ baseUrl: process.env['BASE_URL']! });
const timeout = () => ({ signal: AbortSignal.timeout(30_000) });

function send({ apiKey: auth, key, cursor, id, pet }: Call): Promise<Result> {
  if (pet) return createPet({ ...timeout(), auth, body: pet, headers: { 'Idempotency-Key': key } });
  if (id !== undefined) return getPet({ ...timeout(), auth, path: { petId: id } });
  return listPets({ ...timeout(), auth, query: { limit: 2, cursor } });
}

for await (const line of createInterface({ input: process.stdin })) {
  const { data, error, response } = await send(JSON.parse(line) as Call);
  console.log(JSON.stringify({ status: response?.status, data, error, link: response?.headers.get('Link') }));
}
