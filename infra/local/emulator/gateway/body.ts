import type { HttpRequest } from './http-message.ts';

/** Size up to which bodies never wait. Requests with small bodies must not wait for clients that send large bodies. */
const SMALL_BODY_BYTES = 65_536;

export type LargeBodies = ReturnType<typeof limitLargeBodies>;

/** Limits how many large bodies are in memory at the same time. Further ones wait in the order of their arrival. */
export function limitLargeBodies(count: number) {
  let free = count;
  const waiting: (() => void)[] = [];
  return {
    /** Waits for a free place and occupies it until the result is disposed. */
    async add(): Promise<Disposable> {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return {
        [Symbol.dispose]: () => {
          const next = waiting.shift();
          if (next) next();
          else free += 1;
        },
      };
    },
  };
}

/**
 * Reads a body. The size is that of the received chunks, because chunked bodies have no Content-Length header.
 *
 * @param occupied stack that gets the place of a large body. Dispose the stack when the body is no longer in memory.
 * @returns the body, or undefined if it exceeds `maxBytes`. The rest of the body then remains unread.
 */
export async function readBody(
  { body }: HttpRequest,
  maxBytes: number,
  largeBodies: LargeBodies,
  occupied: DisposableStack,
): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  let isLarge = false;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) return undefined;
    if (length > SMALL_BODY_BYTES && !isLarge) {
      occupied.use(await largeBodies.add());
      isLarge = true;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
