import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashOf } from '../../shared/storage/api-keys.ts';
import { requireTool } from '../support/tools.ts';
import type { StubDatabaseOptions } from './stub-database.ts';

export interface StubDatabase {
  /** What leads a function to it, and lets it trust the certificate. */
  environment: Record<string, string>;
  /** How long it takes for its answers from now on; at first none. */
  answerAfter: (milliseconds: number) => Promise<void>;
  stop: () => void;
}

/** What is used of https://github.com/jfromaniello/selfsigned. */
interface SelfSigned {
  generate: (
    attributes: { name: string; value: string }[],
    options: { keySize: number; algorithm: string },
  ) => Promise<{ private: string; cert: string }>;
}

/** As DynamoDB's, for RSA. */
const KEY_BITS = 2_048;

/**
 * Starts the database of the benchmark, which speaks TLS; it ends with this process.
 *
 * @param folder takes the certificate.
 * @param apiKey the one key that works.
 */
export async function startStubDatabase(folder: string, apiKey: string): Promise<StubDatabase> {
  const { generate } = requireTool('selfsigned') as SelfSigned;
  const { private: key, cert: certificate } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keySize: KEY_BITS,
    algorithm: 'sha256',
  });
  const certificateFile = join(folder, 'certificate.pem');
  writeFileSync(certificateFile, certificate);
  const options: StubDatabaseOptions = {
    key,
    certificate,
    apiKeyRecord: {
      hash: { S: hashOf(apiKey) },
      keyId: { S: 'key_01JD8Z2V5W' },
      stage: { S: 'staging' },
      owner: { S: 'Benchmark' },
      start: { S: apiKey.slice(0, 17) },
      createdAt: { S: new Date().toISOString() },
    },
  };
  const child = fork(new URL('./stub-database.ts', import.meta.url), {
    env: { STUB_DATABASE: JSON.stringify(options) },
  });
  const [port] = (await once(child, 'message')) as [number];
  return {
    environment: {
      AWS_ENDPOINT_URL_DYNAMODB: `https://localhost:${port}`,
      NODE_EXTRA_CA_CERTS: certificateFile,
    },
    async answerAfter(milliseconds) {
      child.send(milliseconds);
      await once(child, 'message');
    },
    stop: () => child.disconnect(),
  };
}
