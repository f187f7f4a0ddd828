/** Time limit that exceeds API Gateway's timeout of 29 seconds, so that API Gateway can respond to a slow request. */
const TIMEOUT_MILLISECONDS = 30_000;

/** Sends a request once. Follows no redirects, because they could leak the key. Returns a 504 if no response arrives. */
export async function send(url: string, init: RequestInit, interruption = new AbortController().signal) {
  const signal = AbortSignal.any([interruption, AbortSignal.timeout(TIMEOUT_MILLISECONDS)]);
  const response = await fetch(url, { ...init, redirect: 'manual', signal }).catch(
    ({ name, cause }: Error & { cause?: { code?: string } }) =>
      Response.json({ message: `There was no response (${cause?.code ?? name}).` }, { status: 504 }),
  );
  // A response from a proxy can have a body that is not JSON.
  const body: any = await response.json().catch(() => null);
  const { status, headers } = response;
  const reason = body?.message ?? `The response has status ${status} and no Error body.`;
  return { status, headers, body, reason };
}

export type Response = Awaited<ReturnType<typeof send>>;
