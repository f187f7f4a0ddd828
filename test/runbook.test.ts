import { CreateTableCommand, DynamoDBClient, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import dynalite from 'dynalite';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { environmentVariables, metrics } from '../shared/names.ts';
import { operations } from '../shared/contract/operations.ts';
import { getPetEvent } from './support/api-gateway-event.ts';
import { invoke } from './support/invoke.ts';
import { logLines } from './support/log-lines.ts';
import { functionNames, resourcesOf, stackTemplate, stageNames } from './support/stack-template.ts';

const projectRoot = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string): string => readFileSync(`${projectRoot}${file}`, 'utf8');
const runbook = read('docs/runbook.md');
const templates = stageNames.map((stage) => [stage, stackTemplate(stage)] as const);
const production = templates.find(([stage]) => stage === 'production')![1];

/** Fenced blocks with this info string, without the indentation that lists give them. */
function blocks(language: string): string[] {
  const fences = runbook.matchAll(/^( *)```(\S+)\n([\s\S]*?)^ *```$/gm);
  return [...fences]
    .filter(([, , info]) => info === language)
    .map(([, indentation = '', , text = '']) => text.replaceAll(new RegExp(`^${indentation}`, 'gm'), ''));
}

/** Those of the names that are not among the known ones. */
function unknown(names: readonly string[], known: Iterable<string>): string[] {
  const set = new Set(known);
  return names.filter((name) => !set.has(name));
}

const prose = runbook.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
const chapters = new Map(
  prose
    .split(/^(?=##? )/m)
    .filter((text) => text.startsWith('## '))
    .map((text) => [text.slice(3, text.indexOf('\n')), text]),
);
const parts = ['What it means', 'How to look', 'What to do'];
const alarmChapters = [...chapters].filter(([, text]) => parts.some((part) => text.includes(`### ${part}`)));

/** The chapters that the alarms of a template send their reader to. */
function namedChapters(template: (typeof templates)[number][1]): string[] {
  return resourcesOf(template, 'AWS::CloudWatch::Alarm').map(
    ([id, { Properties }]) =>
      / See docs\/runbook\.md, "([^"]+)"\.$/.exec(Properties['AlarmDescription'])?.[1] ?? `none, by ${id}`,
  );
}

describe('an alarm', () => {
  test.each(templates)('of %s names a chapter that there is', (_stage, template) => {
    const named = namedChapters(template);
    expect(named).not.toEqual([]);
    const sentences = unknown(named, chapters.keys()).map(
      (chapter) =>
        `Add the chapter "${chapter}" to docs/runbook.md, with "### ${parts.join('", "### ')}", and to its table.`,
    );
    expect(sentences).toEqual([]);
  });
});

describe('a chapter about an alarm', () => {
  test('is named by one', () => {
    const named = templates.flatMap(([, template]) => namedChapters(template));
    expect(
      unknown(
        alarmChapters.map(([chapter]) => chapter),
        named,
      ),
    ).toEqual([]);
  });

  test.each(alarmChapters)('"%s" says what it means, how to look and what to do', (_chapter, text) => {
    expect([...text.matchAll(/^### (.+)$/gm)].map(([, part]) => part)).toEqual(parts);
  });
});

describe('the runbook', () => {
  test.each([
    'First deploy',
    'Rollback by hand',
    'Restore from a point in time',
    'Leaked key',
    'Last use of a key',
    'Raising listPartitions',
    'Turning on a custom domain',
    'A removal date draws near',
    'Going multi-region',
  ])('has the chapter "%s"', (chapter) => {
    expect([...chapters.keys()]).toContain(chapter);
  });

  test('has no chapter twice', () => {
    const headings = [...prose.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings.filter((heading, index) => headings.indexOf(heading) !== index)).toEqual([]);
  });

  test('has every chapter that the code sends its reader to', () => {
    const files = ['infra', 'shared', 'functions'].flatMap((folder) =>
      readdirSync(`${projectRoot}${folder}`, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => `${folder}/${name}`),
    );
    const named = files.flatMap((file) =>
      [...read(file).matchAll(/docs\/runbook\.md, "([^"$]+)"/g)].map(([, chapter]) => chapter!),
    );
    expect(named).toContain('Raising listPartitions');
    expect(unknown(named, chapters.keys())).toEqual([]);
  });

  test('sends from chapter to chapter by names that there are', () => {
    // In quotes stand names of chapters, titles of the dashboard, and what AWS or a command says.
    const quoted = [...prose.matchAll(/"([A-Z][a-z]+(?: [\w,-]+)+)"/g)].map(([, name]) => name!);
    const titles = [...read('infra/stack/dashboard.ts').matchAll(/'([A-Z][^'\n]+)'/g)].map(
      ([, title]) => title!,
    );
    const known = [...chapters.keys(), ...titles];
    expect(unknown(quoted, known)).toEqual([]);
  });

  // `named TYPE PREFIX` takes the first resource that fits: there must be no other.
  test('finds by each of its look-ups one resource of production', () => {
    const lookUps = [...runbook.matchAll(/\$\(named ([A-Za-z]+::[A-Za-z]+) ([\w${}]+)\)/g)].flatMap(
      ([, type, prefix = '']) =>
        functionNames.map((name) => [`AWS::${type}`, prefix.replace(/\$\{?fn\}?/, name)] as const),
    );
    expect(lookUps).toContainEqual(['AWS::CodeDeploy::DeploymentGroup', 'AuthorizerDeployment']);
    const wrong = lookUps.filter(
      ([type, prefix]) => resourcesOf(production, type).filter(([id]) => id.startsWith(prefix)).length !== 1,
    );
    expect(wrong).toEqual([]);
  });

  test('copies back by the key of each table', () => {
    const tables = resourcesOf(production, 'AWS::DynamoDB::GlobalTable');
    const lookUps = [...runbook.matchAll(/^(\w+)=\$\(named DynamoDB::GlobalTable (\w+)\)/gm)];
    const keys = lookUps.map(([, name, prefix = '']) => {
      const [, table] = tables.find(([id]) => id.startsWith(prefix))!;
      return `TARGET=$${name} KEY=${table.Properties['KeySchema'][0].AttributeName}`;
    });
    expect(keys).toHaveLength(tables.length);
    expect(new Set(runbook.match(/TARGET=\$\w+ KEY=\w+/g))).toEqual(new Set(keys));
  });

  test('turns on again the time to live that intents have', () => {
    const turnedOn = [...runbook.matchAll(/Enabled=true,AttributeName=(\w+)/g)].map(([, name]) => name);
    const timesToLive = resourcesOf(production, 'AWS::DynamoDB::GlobalTable').flatMap(
      ([, { Properties }]) => Properties['TimeToLiveSpecification']?.AttributeName ?? [],
    );
    expect(turnedOn).toEqual(timesToLive);
  });

  test('asks for metrics of our own that there are', () => {
    const asked = [...runbook.matchAll(/--namespace PetStore --metric-name (\w+)/g)].map(([, name]) => name);
    expect(asked).toEqual([metrics.deprecatedCalls.name]);
  });
});

/** `error.message` for a member `message` of `error`, as Logs Insights names it. */
function pathsOf(value: object, prefix = ''): string[] {
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'object' && member !== null
      ? pathsOf(member, `${prefix}${name}.`)
      : [`${prefix}${name}`],
  );
}

/** The fields of the line that a function of ours writes when it answers with a 5xx. */
async function fieldsOfErrorLine(): Promise<string[]> {
  process.env[environmentVariables.service] = 'pet-store-production';
  process.env['_X_AMZN_TRACE_ID'] = 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1';
  const { endpoint } = await import('../shared/runtime/endpoint.ts');
  const handler = endpoint(operations.getPet, async () => {
    throw Object.assign(new Error('outer', { cause: new Error('inner') }), { code: 'ECONNREFUSED' });
  });
  await invoke(handler, getPetEvent('1'));
  return logLines().flatMap((line) => pathsOf(line));
}

/** What a query reads: its words that are no function, keyword, text, number or name that it gives itself. */
function fieldsRead(query: string): string[] {
  const code = query
    .replaceAll(/^#.*$/gm, '')
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\/(?:\\.|[^/\n])+\//g, '');
  const given = [...code.matchAll(/\bas (\w+)/g)].map(([, name]) => name!);
  const words = [...code.matchAll(/(?<![\w.@])@?[A-Za-z][\w.]*(?!\w*\()/g)].map(([word]) => word);
  const keywords = 'filter fields stats sort limit by as like and or not desc asc'.split(' ');
  return unknown(words, [...keywords, ...given]);
}

describe('a query of Logs Insights', () => {
  const queries = blocks('logs-insights');
  const ofLog = (name: string): string[] => queries.filter((query) => query.startsWith(`# ${name}\n`));

  /**
   * Of what a function throws, and of `platform.report`.
   * https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html
   * https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html
   */
  const fieldsByLambda = [
    'errorType',
    'errorMessage',
    'stackTrace',
    'type',
    'record.status',
    'record.errorType',
    'record.metrics.durationMs',
    'record.metrics.maxMemoryUsedMB',
  ];
  const builtIn = ['@timestamp', '@message', '@logStream'];

  test('says whose log it is for', () => {
    expect(queries).not.toEqual([]);
    expect([...ofLog('access log'), ...ofLog('function log')].toSorted()).toEqual(queries.toSorted());
  });

  test('reads its words as meant', () => {
    expect(
      fieldsRead('# x\nfilter a like /b c/ and d.e = "f"\n| stats pct(g, 99) as h by i, bin(1m)\n'),
    ).toEqual(['a', 'd.e', 'g', 'i']);
  });

  test.each(templates)('reads fields that the access log of %s has', (_stage, template) => {
    const [[, { Properties }]] = resourcesOf(template, 'AWS::ApiGateway::Stage') as [[string, any]];
    const known = [...Object.keys(JSON.parse(Properties.AccessLogSetting.Format) as object), ...builtIn];
    expect(unknown(ofLog('access log').flatMap(fieldsRead), known)).toEqual([]);
  });

  test('reads fields that functions write, or Lambda on their behalf', async () => {
    const written = await fieldsOfErrorLine();
    expect(written).toEqual(
      expect.arrayContaining(['requestId', 'keyId', 'operation', 'code', 'error.message']),
    );
    const known = [...written, ...fieldsByLambda, ...builtIn];
    expect(unknown(ofLog('function log').flatMap(fieldsRead), known)).toEqual([]);
  });
});

describe('the script that brings items back', () => {
  const script =
    /node --input-type=module <<'END'\n([\s\S]*?)^END$/m.exec(blocks('sh').join('\n'))?.[1] ?? '';
  const server = dynalite({ createTableMs: 0 });
  const environment: Record<string, string> = {};
  let client: DynamoDBClient;

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    Object.assign(environment, {
      AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    });
    client = new DynamoDBClient({
      endpoint: environment['AWS_ENDPOINT_URL_DYNAMODB']!,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });
  });

  afterAll(() => {
    client.destroy();
    server.close();
  });

  async function tableOf(TableName: string, items: [id: string, name: string][]): Promise<void> {
    await client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'N' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      }),
    );
    for (const [id, name] of items) {
      const Item = { id: { N: id }, name: { S: name }, categoryId: { N: '9223372036854775807' } };
      await client.send(new PutItemCommand({ TableName, Item }));
    }
  }

  async function run(): Promise<string> {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', script],
      {
        cwd: projectRoot,
        env: {
          ...process.env,
          FORCE_COLOR: '0',
          ...environment,
          SOURCE: 'restored',
          TARGET: 'pets',
          KEY: 'id',
        },
      },
    );
    return stdout;
  }

  test('copies what is missing with its integers exact, leaves what is there, and may be repeated', async () => {
    await tableOf('restored', [
      ['1', 'lost'],
      ['2', 'as it was'],
    ]);
    await tableOf('pets', [
      ['2', 'as it is'],
      ['3', 'new'],
    ]);
    expect(await run()).toContain('{ copied: 1, present: 1 }');
    expect(await run()).toContain('{ copied: 0, present: 2 }');
    const { Items = [] } = await client.send(new ScanCommand({ TableName: 'pets' }));
    const pets = Items.map(({ id, name, categoryId }) => [id?.N, name?.S, categoryId?.N].join(' '));
    expect(pets.toSorted()).toEqual([
      '1 lost 9223372036854775807',
      '2 as it is 9223372036854775807',
      '3 new 9223372036854775807',
    ]);
  });
});
