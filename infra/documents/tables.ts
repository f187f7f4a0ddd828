import { errorCatalogue } from '../../shared/contract/errors.ts';
import { type Operation, operations } from '../../shared/contract/operations.ts';
import { markdownTable } from './markdown-table.ts';
import { stages } from '../stages.ts';
import type { StageSettings } from '../settings.ts';
const LINE_CHARACTERS = 120;

export function operationTable(): string {
  const rows = Object.values<Operation>(operations).map((operation) => {
    const { id, method, path, summary, success, deprecation } = operation;
    const sunset = deprecation?.sunset.toISOString().slice(0, 10);
    const request = `\`${method} ${path.replace('/v1', '')}\``;
    const purpose = `${summary}${sunset ? ` (deprecated, removal on ${sunset})` : ''}`;
    return [`\`${id}\``, request, purpose, success.status.toString()];
  });
  return markdownTable(['operation', 'request', 'purpose', 'success'], rows, '---');
}

export function errorList(): string {
  return markdownList(
    Object.entries(errorCatalogue).map(
      ([code, { status, description }]) => `**${status} \`${code}\`**: ${description}`,
    ),
  );
}

/**
 * Returns a list of the fields of a pet with the rules for fields that clients send.
 *
 * @param contract OpenAPI document without references
 */
export function fieldList(contract: any): string {
  const { requestBody, responses } = contract.paths['/pets'].post;
  const sent = requestBody.content['application/json'].schema;
  const stored = responses[201].content['application/json'].schema;
  return markdownList(
    Object.entries<any>({ ...stored.properties, ...sent.properties }).map(([name, schema]) => {
      const presence = stored.required.includes(name) ? 'required' : 'optional';
      return `**\`${name}\`** (${typeOf(schema)}, ${presence}): ${schema.description}`;
    }),
  );
}

/** @param contract OpenAPI document without references */
export function parameterList(contract: any): string {
  return markdownList(
    contract.paths['/pets'].get.parameters.map(({ name, schema, description }: any) => {
      const defaultText = schema.default === undefined ? '' : `, default ${schema.default}`;
      return `**\`${name}\`** (${typeOf(schema)}${defaultText}): ${description}`;
    }),
  );
}

export function limitTable(): string {
  const columns = Object.values<StageSettings>(stages).map(
    ({ requestsPerSecond, requestBurst, firewall }) => [
      `${number(requestsPerSecond)} per second, bursts of ${number(requestBurst)}`,
      perMinute(firewall?.requestsPerMinutePerIp),
      perMinute(firewall?.requestsPerMinutePerKey),
    ],
  );
  const names = ['operation', 'IP address', 'API key'];
  const rows = names.map((name, row) => [name, ...columns.map((column) => column[row]!)]);
  return markdownTable(['limit per', ...Object.keys(stages)], rows, '---');
}

/** Returns a table of the retention periods of each stage in days. */
export function retentionTable(): string {
  const rows = Object.entries<StageSettings>(stages).map(([stage, { logRetentionDays, recoveryDays }]) =>
    [stage, logRetentionDays, recoveryDays].map(String),
  );
  return markdownTable(['stage', '`logRetentionDays`', '`recoveryDays`'], rows, '---');
}

function markdownList(items: string[]): string {
  const line = new RegExp(String.raw`\S.{0,${LINE_CHARACTERS - 3}}(?=\s|$)`, 'g');
  return items.map((item) => `- ${item.match(line)!.join('\n  ')}\n`).join('');
}

function perMinute(requests: number | undefined): string {
  return requests === undefined ? 'none' : `${number(requests)} per minute`;
}

const number = (value: number) => value.toLocaleString('en');

function typeOf({ type, format, minimum, maximum, minLength, maxLength, ...schema }: any): string {
  if (schema.enum) return `one of ${schema.enum.map((value: string) => `\`${value}\``).join(', ')}`;
  if (maxLength !== undefined) return `${type} of ${minLength ?? 0} to ${maxLength} characters`;
  if (maximum !== undefined) return `${type} from ${minimum} to ${maximum}`;
  return format ?? type;
}
