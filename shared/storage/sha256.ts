import { createHash, createHmac, createSecretKey } from 'node:crypto';

/**
 * SHA-256, and HMAC with a secret, for the signatures of the SDK. Its own passes secrets to Node as bytes, with which an
 * HMAC takes Node three times as long.
 */
export class Sha256 {
  readonly #hash;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    const key = typeof secret === 'object' ? createSecretKey(secret as Buffer) : secret;
    this.#hash = key === undefined ? createHash('sha256') : createHmac('sha256', key);
  }

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): never {
    throw new Error('The SDK makes a new hash for each signature.');
  }
}
