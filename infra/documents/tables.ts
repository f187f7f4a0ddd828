import * as v from 'valibot';
import { type Operation, operations } from '../../shared/contract/operations.ts';
import { ListPetsQuery, Pet } from '../../shared/contract/schemas.ts';
import { markdownTable } from '../operate/markdown-table.ts';
import { type StageName, stages } from '../stages.ts';
import type { StageSettings } from '../settings.ts';
import { componentSchemas, parameterObjects, schemaObject } from './openapi/schema-objects.ts';

// Tables of docs/interface.md, in Markdown.

/** Each operation with its method, path and success. */
export function operationTable(): string {
  const rows = Object.values<Operation>(operations).map((operation) => {
    const { id, method, path, summary, success, deprecation } = operation;
    const end = deprecation
      ? `, deprecated, removed on ${deprecation.sunset.toISOString().slice(0, 10)}`
      : '';
    const address = `\`${method} ${path.replace('/v1', '')}\``;
    return [`\`${id}\`${end}`, address, summary, `${success.status}: ${success.description}`];
  });
  return table(['operation', 'request', 'what it does', 'success'], rows);
}

/** Each member of a pet. */
export function memberTable(): string {
  const rows = Object.entries<v.GenericSchema>(Pet.entries).map(([name, entry]) => {
    const presence = entry.type === 'exact_optional' ? 'optional' : 'required';
    return [`\`${name}\``, `${typeOf(schemaObject(entry))}, ${presence}`, v.getDescription(entry) ?? ''];
  });
  return table(['member', 'type', 'meaning'], rows);
}

/** Each query parameter of a list. */
export function listParameterTable(): string {
  const rows = parameterObjects('query', ListPetsQuery).map(({ name, schema, description }) => {
    const { default: usual } = schema as { default?: number };
    const standard = usual === undefined ? '' : `, ${usual} if omitted`;
    return [`\`${String(name)}\``, `${typeOf(schema as object)}${standard}`, String(description)];
  });
  return table(['parameter', 'type', 'meaning'], rows);
}

/** How many requests each stage takes. */
export function limitTable(): string {
  const names = Object.keys(stages) as StageName[];
  const row = (name: string, limitOf: (settings: StageSettings) => string | undefined) => [
    name,
    ...names.map((stage) => limitOf(stages[stage]) ?? 'no limit of its own'),
  ];
  return table(
    ['limit of', ...names],
    [
      row(
        'the whole stage',
        ({ requestsPerSecond, requestBurst }) =>
          `${number(requestsPerSecond)} a second, bursts of ${number(requestBurst)}`,
      ),
      row('one address', ({ firewall }) => perMinute(firewall?.requestsPerMinutePerAddress)),
      row('one API key', ({ firewall }) => perMinute(firewall?.requestsPerMinutePerKey)),
    ],
  );
}

function perMinute(requests: number | undefined): string | undefined {
  return requests === undefined ? undefined : `${number(requests)} a minute`;
}

function number(value: number): string {
  return value.toLocaleString('en');
}

interface JsonSchema {
  $ref?: string;
  type?: string;
  format?: string;
  enum?: string[];
  minimum?: number | bigint;
  maximum?: number | bigint;
  minLength?: number;
  maxLength?: number;
}

function typeOf(schema: JsonSchema): string {
  const { type, format, minimum, maximum, minLength, maxLength } = schema;
  if (schema.$ref) return typeOf(componentSchemas()[schema.$ref.split('/').at(-1)!] as JsonSchema);
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (maxLength !== undefined) return `${type} of ${minLength} to ${maxLength} characters`;
  if (maximum === undefined) return format ?? type ?? '';
  return `${type} from ${power(minimum!)} to ${power(maximum)}`;
}

/** Bounds near a power of two as such: nobody reads nineteen digits. */
function power(bound: number | bigint): string {
  const value = BigInt(bound);
  for (const exponent of [53n, 63n]) {
    if (value === 2n ** exponent - 1n) return `2^${exponent}−1`;
    if (value === -(2n ** exponent)) return `−2^${exponent}`;
  }
  return value.toString();
}

function table(head: string[], rows: string[][]): string {
  return markdownTable(head, rows, '---');
}
