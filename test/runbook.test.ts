import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { errorCatalog } from '../shared/contract/errors.ts';
import { endpoint } from '../shared/runtime/endpoint.ts';
import { apiGatewayEvent } from './support/api-gateway-event.ts';
import { books } from './support/books.ts';
import { invoke } from './support/invoke.ts';
import { logLines } from './support/log-lines.ts';
import { codeBlocksIn, proseOf } from './support/markdown-code.ts';
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

  test('has a section with the same four parts for each alarm, and for nothing else', () => {
    const about = sections
      .filter((section) => matchesOf(/^### (.+)$/gm, section).join() === parts)
      .map(headingOf);
    const missing = [...alarms].filter(([, section]) => !about.includes(section));
    const advice = `with the parts ${parts} to docs/runbook.md for`;
    expect(missing.map(([alarm, section]) => `Add the section "${section}" ${advice} ${alarm}.`)).toEqual([]);
    expect(unknown(about, alarms.values())).toEqual([]);
  });

  // If several patterns in the table match an alarm, the longest applies. Two rows have the pattern `…Throttles`, of a
  // function and of a table.
  test('links from its first table to the section of each alarm', () => {
    const rows = runbook.match(/^\| Alarm .* \| \[.*\|$/gm)!;
    const names = rows.flatMap((row) => matchesOf(/`(…?\w+)`/g, row).map((name) => ({ row, name })));
    const missing = [...alarms].flatMap(([alarm, section]) => {
      const link = `[${section}](#${section.toLowerCase().replaceAll(' ', '-')}) |`;
      const row = `| Alarm \`${alarm}\` | ${link}`;
      const matching = names.filter(({ name }) => RegExp(`^${name.replace('…', '.*')}$`).test(alarm));
      const longest = Math.max(...matching.map(({ name }) => name.length));
      const isLinked = matching.some((one) => one.name.length === longest && one.row.endsWith(link));
      return isLinked ? [] : [`Add the row "${row}" to docs/runbook.md.`];
    });
    expect(missing).toEqual([]);
    expect(unknown(matchesOf(/`(\w+)`/g, rows.join('\n')), alarms.keys())).toEqual([]);
  });

  test('says of each alarm whether it wakes somebody, is mailed or only rolls back updates', () => {
    const rows = runbook.match(/^\| `.*` \| (?:wakes|is mailed|notifies nobody).* \|$/gm)!;
    const wrong = templates.flatMap((template) =>
      resourcesOf(template, 'AWS::CloudWatch::Alarm').flatMap(([id, { Properties }]) => {
        const alarm = id.slice('Monitoring'.length);
        const names = rows.flatMap((row) =>
          matchesOf(/`(…?\w+)`/g, row.split(' | ')[0]).map((name) => ({ row, name })),
        );
        const matching = names.filter(({ name }) => RegExp(`^${name.replace('…', '.*')}$`).test(alarm));
        const [longest] = matching.toSorted((one, other) => other.name.length - one.name.length);
        const [topic = 'notifies nobody'] = Properties['AlarmActions'] ?? [];
        const urgency = topic.replace(/^\$\{Monitoring(\w+)\}$/, 'topic `$1`');
        return longest?.row.includes(urgency) ? [] : [`${alarm}: ${urgency}`];
      }),
    );
    expect(wrong).toEqual([]);
  });

  test('contains each section that the code refers to', () => {
    const sources = globSync('{infra,shared,functions}/**/*.ts').map((file) => readFileSync(file, 'utf8'));
    const ofCode = matchesOf(/section "([^"]+)" in docs\/runbook\.md/g, sources.join('\n'));
    expect(ofCode).toContain('Change the number of list partitions');
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
    const mentioned = matchesOf(/`(?:MINUTES=\d+ )?([a-z]+_[a-z_]+)(?: [^`]*)?`/g, proseOf(runbook));
    expect(called).not.toEqual([]);
    expect(mentioned).not.toEqual([]);
    expect(unknown([...called, ...mentioned], [...defined, ...Object.keys(errorCatalog)])).toEqual([]);
  });

  // `physical_id TYPE NAME` prints only the first match, so a second match would go unnoticed.
  test('find a resource in production for each type, and exactly one for each type with a prefix', () => {
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
    *list-stack-resources*) echo None ;;
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

  test('restore the time to live of each table that has one', () => {
    const timesToLive = tables.flatMap(
      ([, { Properties }]) => Properties['TimeToLiveSpecification']?.AttributeName ?? [],
    );
    expect(matchesOf(/Enabled=true,AttributeName=(\w+)/g, commands)).toEqual(timesToLive);
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

  // https://docs.aws.amazon.com/waf/latest/developerguide/logging-fields.html
  test('use only fields of the firewall log that AWS WAF writes', () => {
    const ofRequest = ['clientIp', 'httpMethod', 'uri'].map((field) => `httpRequest.${field}`);
    const ofRules = ['terminatingRuleId', 'nonTerminatingMatchingRules.0.ruleId'];
    const known = [...ofRules, ...ofRequest, ...builtIn];
    expect(unknown(fieldsRead('firewall_log'), known)).toEqual([]);
  });

  test('use only fields of the function logs that functions or Lambda write', async () => {
    process.env['_X_AMZN_TRACE_ID'] = 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1';
    const handler = endpoint(books.operations.list, async () => {
      throw Object.assign(new Error('outer', { cause: new Error('inner') }), { code: 'ECONNREFUSED' });
    });
    await invoke(handler, apiGatewayEvent());
    const fields = logLines().flatMap((line) => pathsOf(line));
    expect(unknown(fieldsRead('function_log'), [...fields, ...byLambda.split(' '), ...builtIn])).toEqual([]);
  });
});

/** Returns the paths of all fields in `value`, in the notation of Logs Insights, such as `error.message`. */
function pathsOf(value: object, prefix = ''): string[] {
  return Object.entries(value).flatMap(([name, member]) =>
    member instanceof Object ? pathsOf(member, `${prefix}${name}.`) : [`${prefix}${name}`],
  );
}

/** Returns the fields that the queries of `command` read: all words except functions, keywords and aliases. */
function fieldsRead(command: string): string[] {
  // Removes shell variables such as `'"$1"'` from the text of the queries.
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
