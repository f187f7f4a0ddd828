import { describe, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { operations } from '../shared/contract/operations.ts';
import { metrics } from '../shared/names.ts';
import { endpoint } from '../shared/runtime/endpoint.ts';
import { getPetEvent } from './support/api-gateway-event.ts';
import { invoke } from './support/invoke.ts';
import { logLines } from './support/log-lines.ts';
import { functionNames, resourcesOf, stackTemplate, stageNames } from './support/stack-template.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string): string => readFileSync(`${root}${file}`, 'utf8');
const runbook = read('docs/runbook.md');
const templates = stageNames.map((stage) => stackTemplate(stage));
const production = stackTemplate('production');

const prose = runbook.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
const chapters = new Map(
  Array.from(prose.matchAll(/^## (.+)\n([^]*?)(?=^##? |$(?![^]))/gm), ([, name, text]) => [name!, text!]),
);

function matchesOf(pattern: RegExp, text = runbook): string[] {
  return Array.from(text.matchAll(pattern), ([, match]) => match!);
}

function unknown(names: string[], known: Iterable<string>): string[] {
  return [...new Set(names).difference(new Set(known))];
}

describe('the chapters', () => {
  const parts = ['Impact', 'Check', 'Fix', 'Resolved when'];
  const named = templates
    .flatMap((template) => resourcesOf(template, 'AWS::CloudWatch::Alarm'))
    .map(
      ([id, { Properties }]) =>
        / See docs\/runbook\.md, "([^"]+)"\.$/.exec(Properties['AlarmDescription'])?.[1] ?? `named by ${id}`,
    );

  test('include each that an alarm names', () => {
    expect(named).not.toEqual([]);
    const missing = unknown(named, chapters.keys()).map(
      (name) =>
        `Add the chapter "${name}" to docs/runbook.md, with "### ${parts.join('", "### ')}", and to its table.`,
    );
    expect(missing).toEqual([]);
  });

  test('about alarms are named by one, and say what it means, how to look and what to do', () => {
    const partsOf = new Map(Array.from(chapters, ([name, text]) => [name, matchesOf(/^### (.+)$/gm, text)]));
    const aboutAlarms = [...chapters.keys()].filter((name) =>
      partsOf.get(name)!.some((part) => parts.includes(part)),
    );
    expect(new Set(aboutAlarms)).toEqual(new Set(named));
    for (const name of aboutAlarms) expect([name, partsOf.get(name)]).toEqual([name, parts]);
  });

  test('include each that the code or another chapter names', () => {
    const sources = globSync('{infra,shared,functions}/**/*.ts', { cwd: root }).map(read).join('\n');
    const ofCode = matchesOf(/docs\/runbook\.md, "([^"$]+)"/g, sources);
    expect(ofCode).toContain('Raising listPartitions');
    // The document quotes names of chapters and titles of the dashboard.
    const quoted = matchesOf(/"([A-Z][a-z]+(?: [\w,-]+)+)"/g, prose);
    const titles = matchesOf(/'([A-Z][^'\n]+)'/g, read('infra/stack/dashboard.ts'));
    expect(unknown([...ofCode, ...quoted], [...chapters.keys(), ...titles])).toEqual([]);
  });
});

describe('the commands', () => {
  const tables = resourcesOf(production, 'AWS::DynamoDB::GlobalTable');

  // `named TYPE PREFIX` returns the first resource that fits, so there must not be another.
  test('find one resource of production by each type and prefix', () => {
    const lookUps = [...runbook.matchAll(/\$\(named ([A-Za-z]+::[A-Za-z]+) ([\w${}]+)\)/g)].flatMap(
      ([, type, prefix = '']) =>
        functionNames.map((name) => [`AWS::${type}`, prefix.replace(/\$\{?fn\}?/, name)] as const),
    );
    expect(lookUps).toContainEqual(['AWS::CodeDeploy::DeploymentGroup', 'AuthorizerDeployment']);
    const found = ([type, prefix]: (typeof lookUps)[number]) =>
      resourcesOf(production, type).filter(([id]) => id.startsWith(prefix));
    expect(lookUps.filter((lookUp) => found(lookUp).length !== 1)).toEqual([]);
  });

  test('copy each table back by its key, and enable its time to live', () => {
    const keys = [...runbook.matchAll(/^(\w+)=\$\(named DynamoDB::GlobalTable (\w+)\)/gm)].map(
      ([, name, prefix = '']) => {
        const [, table] = tables.find(([id]) => id.startsWith(prefix))!;
        return `TARGET=$${name} KEY=${table.Properties['KeySchema'][0].AttributeName}`;
      },
    );
    expect(keys).toHaveLength(tables.length);
    expect(new Set(runbook.match(/TARGET=\$\w+ KEY=\w+/g))).toEqual(new Set(keys));
    const timesToLive = tables.flatMap(
      ([, { Properties }]) => Properties['TimeToLiveSpecification']?.AttributeName ?? [],
    );
    expect(matchesOf(/Enabled=true,AttributeName=(\w+)/g)).toEqual(timesToLive);
  });

  test('ask for a metric of the service that exists', () => {
    expect(matchesOf(/--namespace PetStore --metric-name (\w+)/g)).toEqual([metrics.deprecatedCalls.name]);
  });
});

describe('the queries of Logs Insights', () => {
  const builtIn = ['@timestamp', '@message', '@logStream'];
  /**
   * What Lambda logs of an error that a function throws, and `platform.report`.
   * https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html
   * https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html
   */
  const byLambda = `errorType errorMessage type record.status record.errorType record.metrics.durationMs
    record.metrics.maxMemoryUsedMB`.split(/\s+/);

  test('are each for one of the three logs', () => {
    const logs = matchesOf(/^ *```logs-insights\n(.*)$/gm).map((line) => line.trim());
    expect(new Set(logs)).toEqual(new Set(['# access log', '# function log', '# firewall log']));
  });

  test('read fields of the access log of every stage', () => {
    for (const template of templates) {
      const [[, { Properties }]] = resourcesOf(template, 'AWS::ApiGateway::Stage') as [[string, any]];
      const fields = Object.keys(JSON.parse(Properties.AccessLogSetting.Format) as object);
      expect(unknown(fieldsRead('access log'), [...fields, ...builtIn])).toEqual([]);
    }
  });

  test('read fields that functions write, or Lambda for them', async () => {
    process.env['_X_AMZN_TRACE_ID'] = 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1';
    const handler = endpoint(operations.getPet, async () => {
      throw Object.assign(new Error('outer', { cause: new Error('inner') }), { code: 'ECONNREFUSED' });
    });
    await invoke(handler, getPetEvent('1'));
    const fields = logLines().flatMap((line) => pathsOf(line));
    expect(unknown(fieldsRead('function log'), [...fields, ...byLambda, ...builtIn])).toEqual([]);
  });

  // https://docs.aws.amazon.com/waf/latest/developerguide/logging-fields.html
  test('read fields that AWS WAF writes', () => {
    const byFirewall = 'terminatingRuleId httpRequest.clientIp httpRequest.httpMethod httpRequest.uri'.split(
      ' ',
    );
    expect(unknown(fieldsRead('firewall log'), [...byFirewall, ...builtIn])).toEqual([]);
  });
});

/** The paths of all members, such as `error.message`, as Logs Insights names them. */
function pathsOf(value: object, prefix = ''): string[] {
  return Object.entries(value).flatMap(([name, member]) =>
    member instanceof Object ? pathsOf(member, `${prefix}${name}.`) : [`${prefix}${name}`],
  );
}

/** The words of the queries for a log that are neither functions, keywords nor names of results. */
function fieldsRead(log: string): string[] {
  const queries = matchesOf(new RegExp(`^ *\`\`\`logs-insights\\n *# ${log}\\n([^]*?)^ *\`\`\`$`, 'gm'));
  expect(queries).not.toEqual([]);
  const keywords = 'filter fields stats sort limit by as like and or not desc asc'.split(' ');
  return queries.flatMap((query) => {
    const code = query.replaceAll(/"[^"]*"|\/(?:\\.|[^/\n])+\//g, '');
    const words = code.match(/(?<![\w.@])@?[A-Za-z][\w.]*(?!\w*\()/g) ?? [];
    return unknown(words, [...keywords, ...matchesOf(/\bas (\w+)/g, code)]);
  });
}
