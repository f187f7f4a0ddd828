import { setTimeout } from 'node:timers/promises';
import { stringifyJson } from '../../../shared/contract/json.ts';
import { UsageError } from '../../command.ts';
import { generatePet } from './pets.ts';

const ATTEMPTS = 10;
const MAX_BACKOFF_SECONDS = 60;
/** Exceeds API Gateway's default integration timeout of 29 seconds, so API Gateway responds first. */
const TIMEOUT_MILLISECONDS = 30_000;

export interface Service {
  baseUrl: string;
  apiKey: string;
}

/** Sends a request without retries. If there is no response, the returned status is 0. */
export async function send(
  { baseUrl, apiKey }: Service,
  path: string,
  create?: { method: string; headers: Record<string, string>; body: string },
) {
  try {
    const response = await fetch(`${baseUrl}${path}`, {
      ...create,
      headers: { ...create?.headers, Authorization: `Bearer ${apiKey}` },
      redirect: 'manual', // a redirect must not receive the key
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
    });
    const { status } = response;
    const retryAfterSeconds = Number.parseInt(response.headers.get('Retry-After') ?? '', 10);
    // A response from a proxy can have a body that is not JSON.
    const body = (await response.json().catch(() => null)) as { message?: string } | null;
    const reason = body?.message ?? `The response has status ${status} and no Error body.`;
    return { status, reason, retryAfterSeconds };
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { code?: string } };
    const reason = `There was no response (${cause?.code ?? name}).`;
    return { status: 0, reason, retryAfterSeconds: NaN };
  }
}

/**
 * Creates the pet that `seed` and `index` determine. Retries with an idempotency key as docs/interface.md describes.
 *
 * @throws UsageError if the service rejects the pet or all attempts fail.
 */
export async function addPet(service: Service, seed: number, index: number): Promise<void> {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': `seed-${seed}-${index}` };
  const create = { method: 'POST', headers, body: stringifyJson(generatePet(seed, index)) };
  for (let attempt = 1; ; attempt += 1) {
    const { status, reason, retryAfterSeconds } = await send(service, '/pets', create);
    if (status === 201) return;
    const isFinal = status > 0 && status < 500 && status !== 429;
    if (isFinal || attempt === ATTEMPTS) {
      throw new UsageError(
        `A pet could not be created (attempt ${attempt} of ${ATTEMPTS}). ${reason} ` +
          `To resume, run the same command with --seed ${seed}.`,
      );
    }
    const backoffSeconds = Math.random() * Math.min(2 ** (attempt - 1), MAX_BACKOFF_SECONDS);
    await setTimeout(1_000 * (Number.isNaN(retryAfterSeconds) ? backoffSeconds : retryAfterSeconds));
  }
}
