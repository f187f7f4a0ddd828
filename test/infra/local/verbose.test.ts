import { beforeAll, describe, expect, test } from '@jest/globals';
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resourceModels } from '../../../infra/local/template/resources.ts';
import { sharedSynthesis } from '../../support/assembly.ts';
import { type LocalService, startLocalService } from '../../support/local-service.ts';
import { counted, type Occurrence, readMetrics } from '../../support/log-lines.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

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
  /** All that was printed until the service was ready. */
  banner: string;
  /** The lines that were printed after it. */
  lines: string[];
}

/** Starts the service, sends requests with different outcomes, and stops it. */
async function run(...options: string[]): Promise<Run> {
  const service: LocalService = await startLocalService('--assembly', assembly, ...options);
  const banner = service.output();
  const headers = { Authorization: `Bearer ${service.apiKey}`, 'Content-Type': 'application/json' };
  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${service.baseAddress}${path}`, { headers, ...init });
  try {
    await call('/pets', { method: 'POST', body: '{"name":"Rex","categoryId":7}' });
    await call('/pets?limit=1000');
    await call('/pets/5');
    await call('/pets', { headers: {} });
    // The output of functions arrives after their responses, but in order.
    await service.printed(/(?:a line of JSON[^]*){4}/);
    await service.printed(/(?:after a metric[^]*){4}/);
  } finally {
    await service.stop();
  }
  return { banner, lines: service.output().slice(banner.length).split('\n') };
}

function metricsIn(lines: string[]): Occurrence[] {
  return lines.filter((line) => line.includes('_aws')).flatMap((line) => readMetrics(JSON.parse(line)));
}

function expectOwnLines({ lines }: Run): void {
  for (const own of OWN_LINES) expect(lines.filter((line) => line === own)).toHaveLength(4);
}

describe('the local service with --verbose', () => {
  let verbose: Run;
  beforeAll(async () => {
    verbose = await run('--verbose');
  }, 60_000);

  test('lists the types of its template that are not run, each once', () => {
    const { Resources } = JSON.parse(readFileSync(join(assembly, 'PetStore-staging.template.json'), 'utf8'));
    const types = new Set(
      Object.values(Resources as Record<string, { Type: string }>).map(({ Type }) => Type),
    );
    const notRun = [...types].filter((type) => !(type in resourceModels)).toSorted();
    expect(notRun).toContain('AWS::CloudWatch::Alarm');
    const printed = verbose.banner + verbose.lines.join('\n');
    expect(printed).toContain(`\nNot run here:\n${notRun.map((type) => `  ${type}\n`).join('')}\n`);
  });

  test('prints the metrics, and the other output of the functions', () => {
    const service = 'pet-store-staging';
    const metrics = metricsIn(verbose.lines);
    expect(metrics).toHaveLength(4);
    expect(metrics).toContainEqual(counted('PetsCreated', { service }));
    expect(metrics).toContainEqual(counted('Refusals', { service, code: 'invalid_request' }));
    expect(metrics).toContainEqual(
      counted('DeprecatedCalls', { service, operation: 'getPet', keyId: expect.any(String) as never }),
    );
    expectOwnLines(verbose);
  });
});

test('the local service without --verbose prints only the other output of the functions', async () => {
  const plain = await run();
  expect(plain.banner + plain.lines.join('\n')).not.toMatch(/_aws|requestId|Not run|AWS::/);
  expectOwnLines(plain);
});
