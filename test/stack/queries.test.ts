import { expect, test } from '@jest/globals';
import { endpoint } from '../../shared/runtime/endpoint.ts';
import { apiGatewayEvent } from '../support/api-gateway-event.ts';
import { books } from '../support/books.ts';
import { invoke } from '../support/invoke.ts';
import { logLines } from '../support/log-lines.ts';
import { propertiesOf, readableTemplate } from '../support/stack-template.ts';

const template = readableTemplate('production');
const queries = propertiesOf(template, 'AWS::Logs::QueryDefinition');

/** Returns the texts of the queries of a log group with this logical id. */
const queriesOf = (name: string): string[] =>
  queries
    .filter(({ LogGroupNames }) => LogGroupNames.some((one: string) => one.includes(name)))
    .map(({ QueryString }) => QueryString);

const keywords = 'filter fields stats sort limit parse by as like and or not desc asc'.split(' ');
const builtIn = ['@timestamp', '@message', '@log', '@logStream'];

/** Returns the fields that queries read: all words except functions, keywords and aliases. */
function fieldsIn(texts: string[]): string[] {
  expect(texts).not.toEqual([]);
  return texts.flatMap((text) => {
    const aliases = Array.from(text.matchAll(/\bas (\w+)/g), ([, alias]) => alias!);
    const code = text.replaceAll(/"[^"]*"|\/(?:\\.|[^/\n])+\//g, '');
    const words = code.match(/(?<![\w.@])@?[A-Za-z][\w.]*(?!\w*\()/g) ?? [];
    return words.filter((word) => ![...keywords, ...builtIn, ...aliases].includes(word));
  });
}

/** Returns the paths of all fields in `value`, in the notation of Logs Insights, such as `error.message`. */
function pathsOf(value: object, prefix = ''): string[] {
  return Object.entries(value).flatMap(([name, member]) =>
    member instanceof Object ? pathsOf(member, `${prefix}${name}.`) : [`${prefix}${name}`],
  );
}

test('the queries have the name of the stack, by which docs/oncall.sh finds them', () => {
  for (const { Name } of queries) expect(Name).toMatch(/^PetStore-production\/[a-z-]+$/);
});

test('the queries of the access log read only fields that it has', () => {
  const [{ AccessLogSetting }] = propertiesOf(template, 'AWS::ApiGateway::Stage');
  const fields = Object.keys(JSON.parse(AccessLogSetting.Format) as object);
  expect(fields).toEqual(expect.arrayContaining(fieldsIn(queriesOf('ApiAccessLog'))));
});

// https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html
const byLambda =
  'errorType errorMessage record.status record.errorType record.metrics.durationMs record.metrics.maxMemoryUsedMB'.split(
    ' ',
  );

test('the queries of the function logs read only fields that functions or Lambda write', async () => {
  const handler = endpoint(books.operations.list, async () => {
    throw Object.assign(new Error('outer', { cause: new Error('inner') }), { code: 'ECONNREFUSED' });
  });
  await invoke(handler, apiGatewayEvent());
  const fields = [...logLines().flatMap((line) => pathsOf(line)), ...byLambda];
  expect(fields).toEqual(expect.arrayContaining(fieldsIn(queriesOf('AuthorizerLogs'))));
});

// https://docs.aws.amazon.com/waf/latest/developerguide/logging-fields.html
test('the query of the firewall log reads only fields that AWS WAF writes', () => {
  const ofRequest = ['clientIp', 'httpMethod', 'uri'].map((field) => `httpRequest.${field}`);
  const known = ['terminatingRuleId', 'nonTerminatingMatchingRules.0.ruleId', ...ofRequest];
  expect(known).toEqual(expect.arrayContaining(fieldsIn(queriesOf('FirewallLog'))));
});
