import { errorCatalogue } from '../../shared/contract/errors.ts';
import { type Operation, operations } from '../../shared/contract/operations.ts';
import { ListPetsQuery, NewPet, Pet } from '../../shared/contract/schemas.ts';
import { markdownTable } from './markdown-table.ts';
import { stages } from '../stages.ts';
import type { StageSettings } from '../settings.ts';
import {
  componentSchemas,
  descriptionOf,
  type Entry,
  parameterObjects,
  schemaObject,
} from './openapi/schema-objects.ts';

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

/** Returns a list of the fields of a pet with the rules for fields that clients send. */
export function fieldList(): string {
  const fields: Record<string, Entry> = { ...Pet.entries, ...NewPet.entries };
  return markdownList(
    Object.entries(fields).map(([name, entry]) => {
      const presence = entry.type === 'exact_optional' ? 'optional' : 'required';
      return `**\`${name}\`** (${typeOf(schemaObject(entry))}, ${presence}): ${descriptionOf(entry)}`;
    }),
  );
}

export function parameterList(): string {
  return markdownList(
    parameterObjects('query', ListPetsQuery).map(({ name, schema, description }) => {
      const { default: value } = schema as { default?: number };
      const defaultText = value === undefined ? '' : `, default ${value}`;
      return `**\`${String(name)}\`** (${typeOf(schema as object)}${defaultText}): ${String(description)}`;
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

function typeOf(schema: Record<string, any>): string {
  const { $ref, type, format, minimum, maximum, minLength, maxLength } = schema;
  if ($ref) return typeOf(componentSchemas()[$ref.split('/').at(-1)] as object);
  if (schema['enum']) return `one of ${schema['enum'].map((value: string) => `\`${value}\``).join(', ')}`;
  if (maxLength !== undefined) return `${type} of ${minLength ?? 0} to ${maxLength} characters`;
  if (maximum !== undefined) return `${type} from ${minimum} to ${maximum}`;
  return format ?? type;
}
