import * as fc from 'fast-check';
import assert from 'node:assert/strict';
import { startLocalService } from '../support/local-service.ts';
import { checkAnswer } from './answers.ts';
import type { Case, Pairs } from './cases.ts';
import { check, nothingKnown, type Request } from './checks.ts';
import { exchange, pieces } from './exchange.ts';
import { anyMessage, type Message } from './messages.ts';
import { anyCase, letterCase, otherHeaders, renamed } from './requests.ts';
import { addFirstPets, recorder, type Target } from './fuzz.ts';

// The local service in a process of its own, to which bytes are sent.

type Input = { aCase: Case; style: WireStyle } | { message: Message; cuts: number[]; isEnd: boolean };

/** How a message may say the same in another way. */
interface WireStyle {
  headers: Pairs;
  rename: (name: string) => string;
  encode: (text: string) => string;
  target: (path: string) => string;
  version: string;
  host: string | undefined;
  /** Sizes of the chunks of a body; it is sent with its length without. */
  chunks: number[];
  /** The header `Expect` of a request with a body. */
  expectation: string | undefined;
  /** Where, of a hundred, the bytes are cut into pieces that are sent one by one. */
  cuts: number[];
  /** Whether the client says at once that nothing more will come. */
  isEnd: boolean;
}

const plainStyle: WireStyle = {
  headers: [],
  rename: (name) => name,
  encode: encodeURIComponent,
  target: (path) => path,
  version: 'HTTP/1.1',
  host: 'localhost',
  chunks: [],
  expectation: undefined,
  cuts: [],
  isEnd: false,
};

const cuts = fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { maxLength: 3 });

const wireStyle: fc.Arbitrary<WireStyle> = fc
  .record({
    headers: otherHeaders,
    rename: letterCase,
    encode: fc.constantFrom<((text: string) => string)[]>(
      encodeURIComponent,
      (text) => encodeURIComponent(text).replaceAll('%20', '+'),
      (text) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&'),
    ),
    target: fc.constantFrom<((path: string) => string)[]>(
      (path) => path,
      (path) => path,
      (path) => `http://pets.example.com:81${path}`,
    ),
    version: fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0'),
    host: fc.constantFrom('localhost', 'pets.example.com:81', '[::1]', undefined),
    chunks: fc.array(fc.integer({ min: 1, max: 2_000 }), { maxLength: 3 }),
    expectation: fc.constantFrom(undefined, '100-continue', 'the-best'),
    cuts,
    isEnd: fc.boolean(),
  })
  // HTTP/1.0 knows no chunks and no 100.
  .map((style) => (style.version === 'HTTP/1.0' ? { ...style, chunks: [], expectation: undefined } : style));

const input: fc.Arbitrary<Input> = fc.oneof(
  { arbitrary: fc.record({ aCase: anyCase, style: wireStyle }), weight: 1 },
  { arbitrary: fc.record({ message: anyMessage, cuts, isEnd: fc.boolean() }), weight: 1 },
);

/** @param assembly folder of the cloud assembly. */
export async function startWire(assembly: string): Promise<Target<Input>> {
  const service = await startLocalService('--assembly', assembly);
  process.once('exit', () => service.process.kill());
  const port = Number(new URL(service.baseAddress).port);
  const known = nothingKnown();
  const outcomes = new Map<string, number>();
  const record = recorder(outcomes);

  const askAs = (style: WireStyle) => async (request: Request) => {
    const bytes = bytesOfRequest(request, style, service.apiKey);
    const answer = await exchange(port, pieces(bytes, style.cuts), request.method, style.isEnd);
    record(`${request.method} ${request.path.replace(/(pets\/).+/, '$1…')}`, answer);
    return answer;
  };
  await addFirstPets(askAs(plainStyle), known, service.stop);

  async function checkMessage(
    { kind, text, method, isWhole, expected }: Message,
    at: number[],
    isEnd: boolean,
  ): Promise<void> {
    const bytes = Buffer.from(text.replaceAll('{key}', service.apiKey), 'latin1');
    const answer = await exchange(port, pieces(bytes, at), method, isEnd || !isWhole);
    record(kind, answer);
    checkAnswer(answer, method);
    if (expected)
      assert.ok(
        expected.includes(answer.status),
        `${answer.status} ${answer.text}, not ${expected.join(' or ')}`,
      );
    else assert.notEqual(answer.status, 201);
    assert.match(answer.headers.get('x-amzn-RequestId') ?? '', /^[\da-f-]{36}$/);
  }

  return {
    name: 'local service',
    input,
    async check(generated) {
      if ('message' in generated) return checkMessage(generated.message, generated.cuts, generated.isEnd);
      const { aCase, style } = generated;
      await check(aCase, askAs(style), known, false);
    },
    outcomes,
    printed: () =>
      service
        .output()
        .split('\n')
        .filter((printed) => !/ [24]\d\d [\d.]+ ms$/.test(printed))
        .join('\n')
        .replaceAll(service.apiKey, '…')
        .slice(-3_000),
    async close() {
      await service.stop();
    },
  };
}

function bytesOfRequest(
  { method, path, query, headers, body }: Request,
  { headers: others, rename, encode, target, version, host, chunks, expectation }: WireStyle,
  key: string,
): Buffer {
  const pairs = query.map(
    ([name, value]) => `${encode(name.toWellFormed())}=${encode(value.toWellFormed())}`,
  );
  const framing: Pairs = [];
  if (host) framing.push(['Host', host]);
  if (body && expectation) framing.push(['Expect', expectation]);
  if (body)
    framing.push(
      chunks.length > 0 ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', body.length.toString()],
    );
  const fields = renamed([['Authorization', `Bearer ${key}`], ...others, ...headers, ...framing], rename);
  const head = [
    `${method} ${target(path)}${pairs.length > 0 ? '?' : ''}${pairs.join('&')} ${version}`,
    ...fields.map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([
    Buffer.from(`${head.join('\r\n')}\r\n\r\n`),
    ...(body && chunks.length > 0 ? chunked(body, chunks) : [body ?? Buffer.alloc(0)]),
  ]);
}

function chunked(body: Buffer, sizes: number[]): Buffer[] {
  const parts: Buffer[] = [];
  let start = 0;
  for (const size of [...sizes, body.length]) {
    const part = body.subarray(start, start + size);
    start += size;
    if (part.length > 0)
      parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'));
  }
  return [...parts, Buffer.from('0\r\n\r\n')];
}
