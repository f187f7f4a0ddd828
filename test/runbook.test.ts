import { describe, expect, test } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { errorCatalog } from '../shared/contract/errors.ts';
import { endpoint } from '../shared/runtime/endpoint.ts';
import { apiGatewayEvent } from './support/api-gateway-event.ts';
import { books } from './support/books.ts';
import { invoke } from './support/invoke.ts';
import { logLines } from './support/log-lines.ts';
import { codeBlocksIn, proseOf } from './support/markdown-code.ts';
import { commandEnvironment, isInstalled } from './support/run-command.ts';
import { readableTemplate, resourcesOf, stageNames } from './support/stack-template.ts';

const runbook = readFileSync('docs/runbook.md', 'utf8');
// The commands in docs/runbook.md source these files.
const scripts = globSync('docs/runbook/*.sh').map((file) => readFileSync(file, 'utf8'));
const commands = [runbook, ...scripts].join('\n');
const templates = stageNames.map(readableTemplate);
const production = readableTemplate('production');

const sections = proseOf(runbook).split(/^##? /m);
const headingOf = (section: string) => section.split('\n', 1)[0]!;

function matchesOf(pattern: RegExp, text = runbook): string[] {
  return Array.from(text.matchAll(pattern), ([, match]) => match!);
}

function unknown(names: string[], known: Iterable<string>): string[] {
  return [...new Set(names).difference(new Set(known))];
}

describe('docs/runbook.md', () => {
  const parts = ['Impact', 'Check', 'Fix', 'Resolved when'].join();
  /** Heading of each alarm's section, by the alarm's logical id without `Monitoring`. */
  const alarms = new Map<string, string>();
  for (const [id, { Properties }] of templates.flatMap((one) => resourcesOf(one, 'AWS::CloudWatch::Alarm')))
    alarms.set(id.slice('Monitoring'.length), Properties['AlarmDescription'].split('"').at(-2));

  test('has a section with the same four parts for each alarm', () => {
    const about = sections.filter((section) => matchesOf(/^### (.+)$/gm, section).join() === parts);
    const headings = new Set(about.map(headingOf));
    const missing = [...alarms].filter(([, section]) => !headings.has(section));
    const advice = `with the parts ${parts} to docs/runbook.md for`;
    expect(missing.map(([alarm, section]) => `Add the section "${section}" ${advice} ${alarm}.`)).toEqual([]);
  });

  test('contains each section that the code refers to', () => {
    const sources = globSync('{infra,shared,functions}/**/*.ts').map((file) => readFileSync(file, 'utf8'));
    const ofCode = matchesOf(/section "([^"]+)" in docs\/runbook\.md/g, sources.join('\n'));
    expect(ofCode).toContain('Put a proxy in front');
    expect(unknown(ofCode, sections.map(headingOf))).toEqual([]);
  });
});

describe('the commands of the runbook', () => {
  const tables = resourcesOf(production, 'AWS::DynamoDB::GlobalTable');
  const functions = resourcesOf(production, 'AWS::Lambda::Function');

  test('are defined in the files that docs/runbook.md sources', () => {
    const defined = matchesOf(/^(\w+)\(\) \{/gm, commands);
    const blocks = codeBlocksIn(runbook).map(({ code }) => code);
    const called = matchesOf(/^(?:\w+=\S+ )?([a-z]+_[a-z_]+)(?= |;|$)/gm, blocks.join('\n'));
    const prose = proseOf(runbook);
    const mentioned = matchesOf(/`(?:MINUTES=\d+ )?([a-z]+_[a-z_]+)(?: [^`]*)?`/g, prose);
    expect(called).not.toEqual([]);
    expect(mentioned).not.toEqual([]);
    expect(unknown([...called, ...mentioned], [...defined, ...Object.keys(errorCatalog)])).toEqual([]);
  });

  // With `--output text`, the AWS CLI applies the query to each page, so an index would select an element of each page.
  // https://docs.aws.amazon.com/cli/latest/userguide/cli-usage-filter.html
  test('select no element of a list that can have several pages', () => {
    const lists = matchesOf(/aws (\w+ list-[^']*?--query "[^"]*")/g, scripts.join('\n'));
    expect(lists.join('\n')).toContain('list-stack-resources');
    expect(lists.filter((list) => /--output text[^]*\[-?\d/.test(list))).toEqual([]);
  });

  // `physical_id TYPE NAME` must print one resource.
  test('find a resource in production for each type, and exactly one for each type with a name', () => {
    const lookUps = Array.from(
      commands.matchAll(/(?:\$\(|^ *)(?:physical_id|resources) (\w+::\w+)(?: (\w+))?/gm),
    );
    const wrong = lookUps.filter(([, type, prefix]) => {
      const found = resourcesOf(production, `AWS::${type}`).filter(([id]) => !prefix || id === prefix);
      return prefix ? found.length !== 1 : found.length === 0;
    });
    expect(lookUps).not.toEqual([]);
    expect(wrong.map(([lookUp]) => lookUp)).toEqual([]);
  });

  test('find exactly one log group for each function', () => {
    const logs = resourcesOf(production, 'AWS::Logs::LogGroup').map(([id]) => id);
    const wrong = functions.filter(
      ([name]) => logs.filter((id) => id.startsWith(`${name}Logs`)).length !== 1,
    );
    expect(wrong).toEqual([]);
  });

  describe('that read metrics', () => {
    const indexes = tables.flatMap(([table, { Properties }]) =>
      (Properties['GlobalSecondaryIndexes'] ?? []).map(({ IndexName }: any) => ({ table, IndexName })),
    );
    const withoutIndexes = tables.filter(([id]) => !indexes.some(({ table }) => table === id));
    const stub = `aws() {
  case "$*" in
    *list-stack-resources*GlobalTable*) echo "$TABLES" ;;
    *describe-table*) echo "$INDEXES" | sed -n "s/^$4 //p" ;;
    *get-metric-statistics*) echo "$*" ;;
  esac
}`;

    /** Returns the dimensions of all metrics that a command of docs/runbook/runbook.sh reads. */
    function dimensionsRead(command: string): Set<string> {
      const script = `${stub}\n. docs/runbook/runbook.sh > /dev/null\n${command}`;
      const lines = [
        ...indexes.map(({ table, IndexName }) => `${table} ${IndexName}`),
        ...withoutIndexes.map(([id]) => `${id} None`),
      ];
      const TABLES = tables.map(([id]) => id).join('\t');
      const settings = { STAGE: 'production', AWS_REGION: 'eu-central-1', TABLES, INDEXES: lines.join('\n') };
      const env = { ...process.env, ...settings };
      const printed = execFileSync('bash', ['-c', script], { env, encoding: 'utf8' });
      return new Set(matchesOf(/--dimensions (.+?) --output/g, printed));
    }

    test('read the throttled requests of each table and index', () => {
      const expected = [
        ...tables.map(([id]) => `Name=TableName,Value=${id}`),
        ...indexes.map(
          ({ table, IndexName }) =>
            `Name=TableName,Value=${table} Name=GlobalSecondaryIndexName,Value=${IndexName}`,
        ),
      ];
      expect(dimensionsRead('throttled_limits')).toEqual(new Set(expected));
    });

    test('read the latencies of the calls of each table', () => {
      const expected = tables.flatMap(([id]) =>
        ['Query', 'PutItem', 'GetItem'].map(
          (call) => `Name=TableName,Value=${id} Name=Operation,Value=${call}`,
        ),
      );
      expect(dimensionsRead('database_latencies')).toEqual(new Set(expected));
    });
  });

  test('make the role of the account stack API Gateway’s logging role', () => {
    const [[role]] = resourcesOf(readableTemplate('account'), 'AWS::IAM::Role') as [[string, any]];
    const stub = `aws() {
  case "$*" in
    *'--stack-name PetStore-account '*AWS::IAM::Role*"'${role}'"*) echo the-role ;;
    *list-stack-resources*) echo ;;
    *'get-role --role-name the-role '*) echo arn:aws:iam::123456789012:role/the-role ;;
    *update-account*) echo "$*" ;;
  esac
}`;
    const script = `${stub}\n. docs/runbook/runbook.sh > /dev/null 2>&1\nrepair_access_log; echo "$STACK"`;
    const env = { ...process.env, STAGE: 'production', AWS_REGION: 'eu-central-1' };
    expect(execFileSync('bash', ['-c', script], { env, encoding: 'utf8' }).split('\n')).toEqual([
      'apigateway update-account --patch-operations ' +
        'op=replace,path=/cloudwatchRoleArn,value=arn:aws:iam::123456789012:role/the-role',
      'PetStore-production',
      '',
    ]);
  });

  test('look for the tables of a deleted stack, but not for those of the new stack', () => {
    const stub = `aws() {
  case "$*" in
    *list-stack-resources*GlobalTable*StorageApiKeys*) echo PetStore-a-StorageApiKeys1A2B-NEW ;;
    *list-stack-resources*) echo ;;
    *list-tables*) echo "$*" >&2; printf 'PetStore-a-StorageApiKeys1A2B-OLD\n' ;;
    *describe-table*) echo "$4" ;;
  esac
}`;
    const script = `${stub}\n. docs/runbook/runbook.sh > /dev/null 2>&1\nold_tables ApiKeys`;
    const env = { ...process.env, STAGE: 'a', AWS_REGION: 'eu-central-1' };
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { env, encoding: 'utf8' });
    expect(stdout).toBe('PetStore-a-StorageApiKeys1A2B-OLD\n');
    expect(stderr).toContain(
      "[?starts_with(@, 'PetStore-a-StorageApiKeys1A2B-') && @ != 'PetStore-a-StorageApiKeys1A2B-NEW']",
    );
  });

  test('restore the time to live of each table that has one', () => {
    const timesToLive = tables.flatMap(
      ([, { Properties }]) => Properties['TimeToLiveSpecification']?.AttributeName ?? [],
    );
    expect(matchesOf(/Enabled=true,AttributeName=(\w+)/g, commands)).toEqual(timesToLive);
  });
});

const shells = ['bash', 'zsh'].filter(isInstalled);

describe.each(shells)('in %s, the first block of the runbook', (shell) => {
  const stubOfQueries = `aws() {
  case "$*" in
    *'--query status'*) echo Complete ;;
    *get-query-results*) printf %b "$RESULTS" ;;
    *list-stack-resources*) echo found ;;
    *) echo called ;;
  esac
}
npm() { printf %b "$KEY_LIST"; }
`;

  /** Runs code after the first block, by default with a stub of `aws` that prints `RESULTS` for queries of logs. */
  function runAfterBlock(code: string, settings: Record<string, string> = {}, stub = stubOfQueries) {
    const block = codeBlocksIn(runbook).find((one) => one.code.startsWith('export STAGE='))!.code;
    const filled = Object.entries(settings).reduce(
      (filledBlock, [name, value]) => filledBlock.replace(RegExp(`(?<=${name}=)PUT\\S+`), value),
      block,
    );
    const env = commandEnvironment(settings);
    return spawnSync(shell, ['-c', `${stub}${filled}${code}`], { env, encoding: 'utf8' });
  }

  test('prints only one sentence if a placeholder is left', () => {
    const message =
      'Set STAGE and AWS_REGION to those of the stage that you want to operate, and run the block again.\n';
    for (const settings of [{}, { STAGE: 'staging' }, { AWS_REGION: 'eu-central-1' }])
      expect(runAfterBlock('', settings)).toMatchObject({ stdout: '', stderr: message });
  });

  test('defines a report of the usage of each key', () => {
    const settings = {
      STAGE: 'staging',
      AWS_REGION: 'eu-central-1',
      KEY_LIST: `[${keyRecord('key_1', 'Acme Inc.')},\\n${keyRecord('key_2', 'Books')}]\\n`,
      RESULTS: [
        usageRow('2026-11-21', 'key_1', 200, 5),
        usageRow('2026-11-20', 'key_2', 404, 2),
        usageRow('2026-11-20', 'key_1', 429, 3),
        usageRow('2026-11-20', 'key_1', 201, 10),
        usageRow('2026-11-20', 'key_1', 400, 4),
        usageRow('2026-11-20', 'key_1', 503, 1),
        usageRow('2026-11-20', 'key_3', 200, 7),
      ].join(''),
    };
    const { stdout } = runAfterBlock('echo Report:; key_usage', settings);
    expect(stdout.split('Report:\n')[1]).toBe(
      `DAY\tKEY ID\tREQUESTS\t4XX\t429\t5XX\tOWNER
2026-11-20\tkey_1\t18\t7\t3\t1\tAcme Inc.
2026-11-20\tkey_2\t2\t2\t0\t0\tBooks
2026-11-20\tkey_3\t7\t0\t0\t0\t
2026-11-21\tkey_1\t5\t0\t0\t0\tAcme Inc.
`,
    );
    expect(runAfterBlock('key_usage', { ...settings, KEY_LIST: '[]\\n', RESULTS: '' }).stdout).toMatch(
      /OWNER\n$/,
    );
  });
});

describe('the Logs Insights queries of the runbook', () => {
  const builtIn = ['@timestamp', '@message', '@logStream'];
  // Fields of Lambda's log entries for a thrown error and for the record `platform.report`.
  // https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html
  const byLambda =
    'errorType errorMessage type record.status record.errorType record.metrics.durationMs record.metrics.maxMemoryUsedMB';

  test('use only fields of the access log that every stage logs', () => {
    for (const template of templates) {
      const [[, { Properties }]] = resourcesOf(template, 'AWS::ApiGateway::Stage') as [[string, any]];
      const fields = Object.keys(JSON.parse(Properties.AccessLogSetting.Format) as object);
      expect(unknown(fieldsRead('access_log'), [...fields, ...builtIn])).toEqual([]);
    }
  });

  // These are lines of the access log for three requests: with an active key, an expired key and a made-up key.
  const [active, expired, madeUp] = [
    { keyId: 'key_1', errorType: '-', status: '200', method: 'GET', resource: '/v1/books' },
    { keyId: 'key_2', errorType: 'ACCESS_DENIED', status: '401', method: 'GET', resource: '/v1/books' },
    { keyId: '-', errorType: 'ACCESS_DENIED', status: '401', method: 'GET', resource: '/v1/books' },
  ].map((line) => ({ ...line, domainName: 'a.execute-api.eu-central-1.amazonaws.com' }));

  test.each([
    ['used_keys', [active]],
    ['unused_keys', [active]],
    ['key_usage', [active]],
    ["callers GET '/v1/books'", [active]],
    ['default_url_keys', [active]],
    ['denied_keys', [expired]],
    ['key_requests key_2', [expired]],
  ])('count the requests of the right keys in %s', (command, expected) => {
    const script = `npm() { :; }
. docs/runbook/queries.sh
insights() { echo "$2" >&2; }
${command}`;
    const { stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    expect([active, expired, madeUp].filter((line) => isSelected(stderr, line!))).toEqual(expected);
  });

  // https://docs.aws.amazon.com/waf/latest/developerguide/logging-fields.html
  test('use only fields of the firewall log that AWS WAF writes', () => {
    const ofRequest = ['clientIp', 'httpMethod', 'uri'].map((field) => `httpRequest.${field}`);
    const ofRules = ['terminatingRuleId', 'nonTerminatingMatchingRules.0.ruleId'];
    const known = [...ofRules, ...ofRequest, ...builtIn];
    expect(unknown(fieldsRead('firewall_log'), known)).toEqual([]);
  });

  test('use only fields of the function logs that functions or Lambda write', async () => {
    const handler = endpoint(books.operations.list, async () => {
      throw Object.assign(new Error('outer', { cause: new Error('inner') }), { code: 'ECONNREFUSED' });
    });
    await invoke(handler, apiGatewayEvent());
    const fields = logLines().flatMap((line) => pathsOf(line));
    expect(unknown(fieldsRead('function_log'), [...fields, ...byLambda.split(' '), ...builtIn])).toEqual([]);
  });
});

/**
 * Returns whether the first command `filter` of a query selects a line. Supports comparisons with `=`, `!=` and `like`.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax-Filter.html
 */
function isSelected(query: string, line: Record<string, string>): boolean {
  const [, filter] = /^filter ([^|]+)/.exec(query)!;
  return filter!.split(' and ').every((condition) => {
    const [, field, operator, pattern] = /^(\w+) (=|!=|like) ["/](.*)["/]\s*$/.exec(condition)!;
    if (operator === 'like') return new RegExp(pattern!).test(line[field!]!);
    return (line[field!] === pattern) === (operator === '=');
  });
}

/** Returns a row of the results of the query in `key_usage`, escaped for `printf %b`. */
function usageRow(day: string, key: string, status: number, requests: number): string {
  return `day=${day} 00:00:00.000\\tkeyId=${key}\\tstatus=${status}\\trequests=${requests}\\n`;
}

/** Returns a key's record in the format of `npm run keys -- list --json`. */
function keyRecord(keyId: string, owner: string): string {
  return JSON.stringify({ keyId, owner, createdBy: { keyId } });
}

/** Returns the paths of all fields in `value`, in the notation of Logs Insights, such as `error.message`. */
function pathsOf(value: object, prefix = ''): string[] {
  return Object.entries(value).flatMap(([name, member]) =>
    member instanceof Object ? pathsOf(member, `${prefix}${name}.`) : [`${prefix}${name}`],
  );
}

/** Returns the fields that the queries of `command` read: all words except functions, keywords and aliases. */
function fieldsRead(command: string): string[] {
  // Shell variables such as `'"$1"'` are removed from the text of the queries.
  const constant = scripts.join('\n').replaceAll(/'"\$\d"'/g, '');
  const queries = matchesOf(new RegExp(`\\b${command} '([^']+)'`, 'g'), constant);
  expect(queries).not.toEqual([]);
  const keywords = 'filter fields stats sort limit display by as like and or not desc asc'.split(' ');
  return queries.flatMap((query) => {
    const code = query.replaceAll(/"[^"]*"|\/(?:\\.|[^/\n])+\//g, '');
    const words = code.match(/(?<![\w.@])@?[A-Za-z][\w.]*(?!\w*\()/g) ?? [];
    return unknown(words, [...keywords, ...matchesOf(/\bas (\w+)/g, code)]);
  });
}
