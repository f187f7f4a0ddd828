import * as fc from 'fast-check';
import assert from 'node:assert/strict';
import { startLocalService } from '../support/local-service.ts';
import { contract } from '../support/contract.ts';
import { type ApiResponse, checkResponse } from './responses.ts';
import { check, type State, type Request } from './checks.ts';
import { exchange, slices } from './exchange.ts';
import { count, type Generated, type Target } from './fuzz.ts';
import { letterCase, otherHeaders, type Pairs } from './headers.ts';
import { anyMessage, type Message } from './messages.ts';
import { anyCase, type Case } from './requests.ts';

// Runs the local service in a separate process and sends HTTP messages to the service.

/** Generated message, which is split at `cuts` (percentages of its length) and sent in parts. */
type Input = { cuts: number[] } & ({ testCase: Case; style: Style } | { message: Message });

const cuts = fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { maxLength: 3 });
/** Variations of a request that must not change the response. */
const style = fc.record({
  headers: otherHeaders,
  rename: letterCase,
  encode: fc.constantFrom<((text: string) => string)[]>(
    encodeURIComponent,
    (text) => encodeURIComponent(text).replaceAll('%20', '+'),
    (text) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&'),
  ),
  /** Percentages of the body's length at which chunks end. If empty, the body is sent with Content-Length. */
  chunks: cuts,
});
type Style = Generated<typeof style>;

const { contradictions } = contract();

/** @param assembly folder of the cloud assembly */
export async function startLocalServiceTarget(assembly: string): Promise<Target<Input>> {
  const { baseUrl, apiKey, output, process: child, stop } = await startLocalService('--assembly', assembly);
  process.once('exit', () => child.kill());
  const port = Number(new URL(baseUrl).port);
  const state: State = { pets: [], creations: new Map() };
  const outcomes: Record<string, number> = {};

  async function checkMessage({ kind, text, method, expected }: Message, at: number[]): Promise<void> {
    const bytes = Buffer.from(text.replaceAll('{key}', apiKey), 'latin1');
    const response = await exchange(port, slices(bytes, at), method);
    count(outcomes, kind, response);
    checkResponse(response, method);
    if (expected) assert.equal(response.status, expected, response.text);
    else assert.notEqual(response.status, 201);
    assert.match(response.headers.get('x-amzn-RequestId') ?? '', /^[\da-f-]{36}$/);
  }

  return {
    name: 'local service',
    input: fc.oneof(fc.record({ testCase: anyCase, style, cuts }), fc.record({ message: anyMessage, cuts })),
    async check(generated) {
      if ('message' in generated) return checkMessage(generated.message, generated.cuts);
      const send = async (request: Request) => {
        const bytes = bytesOf(request, generated.style, apiKey);
        const response = await exchange(port, slices(bytes, generated.cuts), request.method);
        count(outcomes, `${request.method} ${request.path.replace(/(pets\/).+/, '$1…')}`, response);
        assert.deepEqual(documentedProblems(request, bytes, response), []);
        return response;
      };
      await check(generated.testCase, send, state);
    },
    outcomes,
    printed: () => output().replaceAll(apiKey, '…').slice(-3_000),
    close: stop,
  };
}

/** Returns violations of the OpenAPI documents. Skips repeated headers, because OpenAPI cannot describe them. */
function documentedProblems(
  { method, headers, body }: Request,
  bytes: Buffer,
  response: ApiResponse,
): string[] {
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  if (names.size < headers.length) return [];
  const [, target = ''] = / \/v1(\S*) /.exec(bytes.toString('latin1')) ?? [];
  return contradictions({ method, target, headers: Object.fromEntries(headers), body, response });
}

function bytesOf(
  { method, path, query, headers, body }: Request,
  { headers: others, rename, encode, chunks }: Style,
  key: string,
): Buffer {
  const pairs = query.map(
    ([name, value]) => `${encode(name.toWellFormed())}=${encode(value.toWellFormed())}`,
  );
  const fields: Pairs = [['Host', 'localhost'], ['Authorization', `Bearer ${key}`], ...others, ...headers];
  if (body && chunks.length > 0) fields.push(['Transfer-Encoding', 'chunked']);
  else if (body) fields.push(['Content-Length', body.length.toString()]);
  const head = [
    `${method} ${path}${pairs.length > 0 ? '?' : ''}${pairs.join('&')} HTTP/1.1`,
    ...fields.map(([name, value]) => `${rename(name)}: ${value}`),
  ];
  return Buffer.concat([
    Buffer.from(`${head.join('\r\n')}\r\n\r\n`),
    ...(body && chunks.length > 0 ? chunked(body, chunks) : [body ?? Buffer.alloc(0)]),
  ]);
}

function chunked(body: Buffer, at: number[]): Buffer[] {
  const parts = slices(body, at).filter(({ length }) => length > 0);
  return [
    ...parts.flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]),
    Buffer.from('0\r\n\r\n'),
  ];
}
