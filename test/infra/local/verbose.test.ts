import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resourceModels } from '../../../infra/local/template/resources.ts';
import { sharedSynthesis } from '../../support/assembly.ts';
import { type LocalService, startLocalService } from '../../support/local-service.ts';
import { counted, type Occurrence, readMetrics } from '../../support/log-lines.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

jest.setTimeout(60_000); // for processes that start on a busy machine

const assembly = temporaryFolder();
const OWN_LINES = ['a line of its own', '{"level":"ERROR","message":"a line of JSON"}'];

const AFTER_A_METRIC = 'after a metric';

/** Put before a bundle: functions write nothing but metrics when all goes well. */
const PRELUDE = `
  for (const line of ${JSON.stringify(OWN_LINES)}) console.log(line);
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (chunk, ...parameters) => {
    write(chunk, ...parameters);
    return !chunk.startsWith('{"_aws"') || write('${AFTER_A_METRIC}\\n');
  };
`;

beforeAll(async () => {
  cpSync((await sharedSynthesis()).assembly, assembly, { recursive: true });
  for (const bundle of globSync(join(assembly, 'asset.*', 'index.mjs'))) {
    writeFileSync(bundle, PRELUDE + readFileSync(bundle, 'utf8'));
  }
}, 60_000);

interface Run {
  /** What was printed up to the command that can be pasted, and after it. */
  banner: string;
  printed: string;
  /** Request ids by what was asked. */
  ids: Record<string, string>;
}

/** Starts the service, asks it in each of the ways that a request can end, and ends it. */
async function run(...options: string[]): Promise<Run> {
  const service: LocalService = await startLocalService('--assembly', assembly, ...options);
  const banner = service.output().slice(0, service.output().indexOf('curl'));
  const ids: Record<string, string> = {};
  async function ask(what: string, path: string, init: RequestInit = {}): Promise<any> {
    const headers = { Authorization: `Bearer ${service.apiKey}`, 'Content-Type': 'application/json' };
    const response = await fetch(`${service.baseAddress}${path}`, { headers, ...init });
    ids[what] = response.headers.get('x-amzn-RequestId')!;
    return response.json();
  }

  try {
    await ask('created', '/pets', { method: 'POST', body: '{"name":"Rex","categoryId":7}' });
    await ask('listed', '/pets');
    await ask('refused', '/pets?limit=1000');
    await ask('not found', '/pets/5');
    await ask('without a key', '/pets', { headers: {} });
    await ask('no address of ours', '/nowhere');
    await ask('no method of ours', '/pets', { method: 'DELETE' });
    // What functions write arrives after their answers, but in order.
    await service.printed(/(?:a line of JSON[^]*){4}/);
    await service.printed(/(?:after a metric[^]*){4}/);
  } finally {
    await service.stop();
  }
  return { banner, printed: service.output().slice(banner.length), ids };
}

function linesOf(printed: string): string[] {
  return printed.split('\n');
}

/** The access log, by what was asked. */
function accessLog({ printed, ids }: Run): Record<string, unknown> {
  const lines = linesOf(printed)
    .filter((line) => line.startsWith('{"service":'))
    .map((line) => JSON.parse(line) as Record<string, string>);
  return Object.fromEntries(
    Object.entries(ids).map(([what, id]) => [what, lines.filter(({ requestId }) => requestId === id)]),
  );
}

function metricsIn(printed: string): Occurrence[] {
  return linesOf(printed)
    .filter((line) => line.includes('_aws'))
    .flatMap((line) => readMetrics(JSON.parse(line)));
}

function requestLines(printed: string): string[] {
  return linesOf(printed).flatMap((line) => /^\S+Z (\S+ \S+ \d+) \d+\.\d ms$/.exec(line)?.[1] ?? []);
}

const requests = [
  'POST /v1/pets 201',
  'GET /v1/pets 200',
  'GET /v1/pets 400',
  'GET /v1/pets/5 404',
  'GET /v1/pets 401',
  'GET /v1/nowhere 404',
  'DELETE /v1/pets 405',
];

describe('the local service with --verbose', () => {
  let verbose: Run;
  beforeAll(async () => {
    verbose = await run('--verbose');
  }, 60_000);

  test('lists the types of its template that are not run here, each once', () => {
    const { Resources } = JSON.parse(readFileSync(join(assembly, 'PetStore-staging.template.json'), 'utf8'));
    const types = new Set(
      Object.values(Resources as Record<string, { Type: string }>).map(({ Type }) => Type),
    );
    const notRun = [...types].filter((type) => !(type in resourceModels)).toSorted();
    expect(notRun).toContain('AWS::CloudWatch::Alarm');
    const list = notRun.map((type) => `  ${type}\n`).join('');
    expect(verbose.banner + verbose.printed).toContain(`\nNot run here:\n${list}\n`);
  });

  test('prints a line of the access log for each request', () => {
    const millis = expect.stringMatching(/^\d+$/);
    const keyId = expect.stringMatching(/^key_[\da-f]{20}$/);
    const common = {
      service: 'pet-store-staging',
      requestId: expect.any(String),
      extendedRequestId: expect.stringMatching(/^[\da-f-]{36}$/),
      time: expect.stringMatching(/^\d\d\/\w{3}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
      method: 'GET',
      resource: '/v1/pets',
      errorType: '-',
      functionRequestId: expect.stringMatching(/^[\da-f-]{36}$/),
      latency: millis,
      authorizerLatency: millis,
      integrationLatency: millis,
      responseLength: millis,
      sourceIp: '127.0.0.1',
      firewall: '-',
      traceId: '-',
    };
    const uncalled = { keyId: '-', functionRequestId: '-', integrationLatency: '-' };
    const unasked = { ...uncalled, authorizerLatency: '-' };
    expect(accessLog(verbose)).toEqual({
      created: [{ ...common, keyId, status: '201', method: 'POST' }],
      listed: [{ ...common, keyId, status: '200' }],
      refused: [{ ...common, keyId, status: '400' }],
      'not found': [{ ...common, keyId, status: '404', resource: '/v1/pets/{petId}' }],
      'without a key': [{ ...common, ...uncalled, status: '401', errorType: 'UNAUTHORIZED' }],
      'no address of ours': [{ ...common, ...unasked, status: '404', resource: '/{proxy+}' }],
      'no method of ours': [{ ...common, ...unasked, status: '405', method: 'DELETE' }],
    });
  });

  test('prints the metrics of the functions, by the name of the stage and the key', () => {
    const service = 'pet-store-staging';
    const [first] = Object.values(accessLog(verbose)['created'] as { keyId: string }[]);
    const { keyId } = first!;
    const of = (name: string, dimensions = {}) => counted(name, { service, ...dimensions });
    const metrics = metricsIn(verbose.printed);
    expect(metrics).toHaveLength(4);
    expect(metrics).toContainEqual(of('PetsCreated'));
    expect(metrics).toContainEqual(of('Refusals', { code: 'invalid_request' }));
    expect(metrics).toContainEqual(of('Refusals', { code: 'not_found' }));
    expect(metrics).toContainEqual(of('DeprecatedCalls', { operation: 'getPet', keyId }));
  });

  test('prints its line for each request, and whatever else functions write', () => {
    expect(requestLines(verbose.printed)).toEqual(requests);
    for (const own of OWN_LINES) {
      expect(linesOf(verbose.printed).filter((line) => line === own)).toHaveLength(4);
    }
  });
});

describe('the local service without --verbose', () => {
  let plain: Run;
  beforeAll(async () => {
    plain = await run();
  }, 60_000);

  test('prints neither access log nor metrics nor what is not run here', () => {
    expect(Object.values(accessLog(plain)).flat()).toEqual([]);
    expect(metricsIn(plain.printed)).toEqual([]);
    expect(plain.banner + plain.printed).not.toMatch(/_aws|requestId|Not run|AWS::/);
  });

  test('prints its line for each request, and whatever else functions write', () => {
    expect(requestLines(plain.printed)).toEqual(requests);
    for (const own of OWN_LINES) {
      expect(linesOf(plain.printed).filter((line) => line === own)).toHaveLength(4);
    }
  });
});
