import { setTimeout } from 'node:timers/promises';
import { UsageError } from '../command.ts';

// Asks the service as docs/interface.md wants it under "How to retry".

const ATTEMPTS = 10;
const LONGEST_PAUSE_SECONDS = 60;
/** Whoever is asked to wait for longer comes back later. */
const LONGEST_WAIT_SECONDS = 300;
/** A second longer than API Gateway waits for a function by default. */
const TIMEOUT_MILLISECONDS = 30_000;

export interface Service {
  baseAddress: string;
  apiKey: string;
}

/** Sends a request once. Never rejects: without an answer there is no status. What is final, repeating does not change. */
export async function ask(
  { baseAddress, apiKey }: Service,
  path: string,
  { headers, ...options }: { method?: string; headers?: Record<string, string>; body?: string } = {},
) {
  try {
    const response = await fetch(`${baseAddress}${path}`, {
      ...options,
      headers: { ...headers, Authorization: `Bearer ${apiKey}` },
      redirect: 'manual', // the key is for this address alone
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
    });
    const { status } = response;
    const retryAfterSeconds = Number.parseInt(response.headers.get('Retry-After') ?? '', 10);
    // Others than the service may answer too.
    const body = (await response.json().catch(() => null)) as { message?: string } | null;
    const reason = body?.message ?? `the answer has the status ${status} and no Error body.`;
    return { status, reason, isFinal: status < 500 && status !== 429, retryAfterSeconds };
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { code?: string } };
    const reason = `no answer came (${cause?.code ?? name}).`;
    return { status: undefined, reason, isFinal: false, retryAfterSeconds: NaN };
  }
}

/**
 * Sends a create until it is answered by 201.
 *
 * @throws UsageError with what stood in the way; an AbortError when it was stopped while it waited.
 */
export async function repeat(send: () => ReturnType<typeof ask>, stop: AbortSignal): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const { status, reason, isFinal, retryAfterSeconds } = await send();
    if (status === 201) return;
    if (isFinal) throw new UsageError(`A pet was refused: ${reason}`);
    if (attempt === ATTEMPTS) throw new UsageError(`A pet was not added in ${ATTEMPTS} attempts: ${reason}`);
    const pause = Math.random() * Math.min(2 ** (attempt - 1), LONGEST_PAUSE_SECONDS);
    const seconds = Number.isNaN(retryAfterSeconds) ? pause : retryAfterSeconds;
    if (seconds > LONGEST_WAIT_SECONDS) {
      throw new UsageError(`The service asks to wait for ${seconds} seconds: ${reason}`);
    }
    await setTimeout(1_000 * seconds, undefined, { signal: stop });
  }
}
