import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashOf } from '../../shared/storage/api-keys.ts';
import { requireTool } from '../support/tools.ts';
import type { StubDatabaseOptions } from './stub-database.ts';

export type StubDatabase = Awaited<ReturnType<typeof startStubDatabase>>;

/**
 * Starts the stub database with TLS in a child process. The child process exits when this process exits.
 *
 * @param folder output folder for the certificate
 * @param apiKey the only API key that the stub stores
 */
export async function startStubDatabase(folder: string, apiKey: string) {
  // https://github.com/jfromaniello/selfsigned. DynamoDB's RSA key also has 2,048 bits.
  const { private: key, cert: certificate } = await requireTool('selfsigned').generate(
    [{ name: 'commonName', value: 'localhost' }],
    { keySize: 2_048, algorithm: 'sha256' },
  );
  const certificateFile = join(folder, 'certificate.pem');
  writeFileSync(certificateFile, certificate);
  const apiKeyRecord = {
    hash: { S: hashOf(apiKey) },
    keyId: { S: 'key_01JD8Z2V5W' },
    stage: { S: 'staging' },
    owner: { S: 'Benchmark' },
    start: { S: apiKey.slice(0, 17) },
    createdAt: { S: new Date().toISOString() },
  };
  const options: StubDatabaseOptions = { key, certificate, apiKeyRecord };
  const child = fork(new URL('./stub-database.ts', import.meta.url), {
    env: { STUB_DATABASE: JSON.stringify(options) },
  });
  const [port] = (await once(child, 'message')) as [number];
  return {
    /** Environment variables that functions need to connect to the database. */
    environment: {
      AWS_ENDPOINT_URL_DYNAMODB: `https://localhost:${port}`,
      NODE_EXTRA_CA_CERTS: certificateFile,
    },
    /** Sets the delay of all following responses. Before the first call, responses are not delayed. */
    async respondAfter(milliseconds: number): Promise<void> {
      child.send(milliseconds);
      await once(child, 'message');
    },
    stop: () => child.disconnect(),
  };
}
