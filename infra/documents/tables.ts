import { errorCatalogue } from '../../shared/contract/errors.ts';
import { type Operation, operations } from '../../shared/contract/operations.ts';
import { ListPetsQuery, NewPet, Pet } from '../../shared/contract/schemas.ts';
import { markdownTable } from '../operate/markdown-table.ts';
import { stages } from '../stages.ts';
import type { StageSettings } from '../settings.ts';
import {
  componentSchemas,
  descriptionOf,
  type Entry,
  parameterObjects,
  schemaObject,
} from './openapi/schema-objects.ts';

// Tables of documents, in Markdown.

export function operationTable(): string {
  const rows = Object.values<Operation>(operations).map((operation) => {
    const { id, method, path, summary, success, deprecation } = operation;
    const sunset = deprecation?.sunset.toISOString().slice(0, 10);
    const name = `\`${id}\`${sunset ? `, deprecated, to be removed on ${sunset}` : ''}`;
    const request = `\`${method} ${path.replace('/v1', '')}\``;
    return [name, request, summary, `${success.status}: ${success.description}`];
  });
  return markdownTable(['operation', 'request', 'what it does', 'success'], rows, '---');
}

/** Returns the table of the errors. */
export function errorTable(): string {
  const rows = Object.entries(errorCatalogue).map(([code, { status, description }]) => [
    `\`${code}\``,
    status.toString(),
    description,
  ]);
  return markdownTable(['`code`', 'status', 'when'], rows, '---');
}

/** Returns the table of the members of a pet, with the rules for those that clients send. */
export function fieldTable(): string {
  const members: Record<string, Entry> = { ...Pet.entries, ...NewPet.entries };
  const rows = Object.entries(members).map(([name, entry]) => {
    const presence = entry.type === 'exact_optional' ? 'optional' : 'required';
    return [`\`${name}\``, `${typeOf(schemaObject(entry))}, ${presence}`, descriptionOf(entry) ?? ''];
  });
  return markdownTable(['member', 'type', 'meaning'], rows, '---');
}

/** Returns the table of the query parameters of a list. */
export function listParameterTable(): string {
  const rows = parameterObjects('query', ListPetsQuery).map(({ name, schema, description }) => {
    const { default: usual } = schema as { default?: number };
    const defaultText = usual === undefined ? '' : `, ${usual} if omitted`;
    return [`\`${String(name)}\``, `${typeOf(schema as object)}${defaultText}`, String(description)];
  });
  return markdownTable(['parameter', 'type', 'meaning'], rows, '---');
}

/** Returns the table of the rates that each stage allows. */
export function limitTable(): string {
  const columns = Object.values<StageSettings>(stages).map(
    ({ requestsPerSecond, requestBurst, firewall }) => [
      `${number(requestsPerSecond)} a second, bursts of ${number(requestBurst)}`,
      perMinute(firewall?.requestsPerMinutePerIp),
      perMinute(firewall?.requestsPerMinutePerKey),
    ],
  );
  const names = ['one operation', 'one address', 'one API key'];
  const rows = names.map((name, row) => [name, ...columns.map((column) => column[row]!)]);
  return markdownTable(['limit of', ...Object.keys(stages)], rows, '---');
}

/** Returns the table of how long each stage keeps what. */
export function retentionTable(): string {
  const rows = Object.entries<StageSettings>(stages).map(([stage, { logRetentionDays, recoveryDays }]) =>
    [stage, logRetentionDays, recoveryDays].map(String),
  );
  return markdownTable(['stage', '`logRetentionDays`', '`recoveryDays`'], rows, '---');
}

function perMinute(requests: number | undefined): string {
  return requests === undefined ? 'none' : `${number(requests)} a minute`;
}

const number = (value: number) => value.toLocaleString('en');

function typeOf(schema: Record<string, any>): string {
  const { $ref, type, format, minimum, maximum, minLength, maxLength } = schema;
  if ($ref) return typeOf(componentSchemas()[$ref.split('/').at(-1)] as object);
  if (schema['enum']) return schema['enum'].map((value: string) => `\`${value}\``).join(', ');
  if (maxLength !== undefined) return `${type} of ${minLength ?? 0} to ${maxLength} characters`;
  if (maximum !== undefined) return `${type} from ${minimum} to ${maximum}`;
  return format ?? type;
}
