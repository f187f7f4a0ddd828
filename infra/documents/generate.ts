import { readFileSync, writeFileSync } from 'node:fs';
import { runWithOptions, UsageError } from '../command.ts';
import type { StageSettings } from '../settings.ts';
import { stages } from '../stages.ts';
import { errorCatalog } from '../../shared/contract/errors.ts';
import { parseJson } from '../../shared/contract/json.ts';
import { operations } from '../../shared/contract/operations.ts';
import { costParts } from './cost/cost.ts';
import { markdownList, markdownTable, withParts } from './markdown.ts';
import { openApiJson } from './openapi/document.ts';
import { withoutReferences } from './openapi/references.ts';

const USAGE = `node infra/documents/generate.ts [--check]

Writes openapi.json and the generated parts of documents.

  --check  writes nothing and fails if a file is outdated`;

async function generatedFiles(): Promise<[file: string, text: string][]> {
  const openApi = openApiJson();
  const contract = withoutReferences(parseJson(openApi));
  const parts: Record<string, Record<string, string>> = {
    ...(await costParts()),
    'docs/interface.md': {
      operations: operationTable(contract),
      fields: fieldList(contract),
      'list parameters': parameterList(contract),
      errors: errorList(),
      limits: limitTable(),
    },
    'docs/security.md': { retention: retentionTable() },
  };
  const documents = Object.entries(parts).map(
    ([file, texts]) => [file, withParts(file, readFileSync(file, 'utf8'), texts)] as [string, string],
  );
  return [['openapi.json', openApi], ...documents];
}

function operationTable(contract: any): string {
  const rows = Object.entries<any>(contract.paths).flatMap(([path, item]) =>
    Object.entries<any>(item).map(([method, { operationId, summary, responses, 'x-sunset': sunset }]) => [
      `\`${operationId}\``,
      `\`${method.toUpperCase()} ${path}\``,
      sunset ? `${summary} (deprecated, removal on ${sunset})` : summary,
      Object.keys(responses)[0]!,
    ]),
  );
  return markdownTable(['operation', 'request', 'purpose', 'success'], rows, '---');
}

function errorList(): string {
  const lines = Object.entries(errorCatalog).map(
    ([code, { status, description }]) => `**${status} \`${code}\`**: ${description}`,
  );
  return markdownList(lines);
}

/** Returns a Markdown list of the resource's fields. Their descriptions contain the rules for requests. */
function fieldList(contract: any): string {
  const { requestBody, responses } = operationsIn(contract).find((operation) => operation.responses[201]);
  const sent = requestBody.content['application/json'].schema;
  const stored = responses[201].content['application/json'].schema;
  return markdownList(
    Object.entries<any>({ ...stored.properties, ...sent.properties }).map(([name, schema]) => {
      const presence = stored.required.includes(name) ? 'required' : 'optional';
      return `**\`${name}\`** (${typeOf(schema)}, ${presence}): ${schema.description}`;
    }),
  );
}

function parameterList(contract: any): string {
  const { parameters } = operationsIn(contract).find(
    ({ operationId }) => operationId === operations.listPets.id,
  );
  return markdownList(
    parameters.map(({ name, schema, description }: any) => {
      const defaultText = schema.default === undefined ? '' : `, default ${schema.default}`;
      return `**\`${name}\`** (${typeOf(schema)}${defaultText}): ${description}`;
    }),
  );
}

function limitTable(): string {
  const rows = Object.entries<StageSettings>(stages).map(([stage, { firewall, ...settings }]) => [
    stage,
    `${number(settings.requestsPerSecond)} per second, bursts of ${number(settings.requestBurst)}`,
    perMinute(firewall, 'requestsPerMinutePerIp'),
    perMinute(firewall, 'requestsPerMinutePerKey'),
  ]);
  return markdownTable(['stage', 'per operation', 'per IP address', 'per API key'], rows, '---');
}

function retentionTable(): string {
  const names = ['logRetentionDays', 'recoveryDays'] as const;
  const rows = Object.entries(stages).map(([stage, all]) => [stage, ...names.map((name) => `${all[name]}`)]);
  return markdownTable(['stage', ...names.map((name) => `\`${name}\``)], rows, '---');
}

const operationsIn = ({ paths }: any) => Object.values<any>(paths).flatMap(Object.values<any>);
const perMinute = (firewall: StageSettings['firewall'], limit: `requestsPerMinutePer${'Ip' | 'Key'}`) =>
  firewall?.action === 'block' ? `${number(firewall[limit])} per minute` : 'none';
const number = (value: number) => value.toLocaleString('en');

function typeOf({ type, format, minimum, maximum, minLength, maxLength, ...schema }: any): string {
  if (schema.enum) return `one of ${schema.enum.map((value: string) => `\`${value}\``).join(', ')}`;
  if (maxLength !== undefined) return `${type} of ${minLength ?? 0} to ${maxLength} characters`;
  if (maximum !== undefined) return `${type} from ${minimum} to ${maximum}`;
  return format ?? type;
}

await runWithOptions(USAGE, { check: { type: 'boolean', default: false } }, async ({ check }) => {
  const files = await generatedFiles();
  const outdated = files.filter(([file, text]) => text !== readFileSync(file, 'utf8'));
  if (check && outdated.length > 0)
    throw new UsageError(`Outdated: ${outdated.map(([file]) => file).join(', ')}. Run npm run generate.`);
  for (const [file, text] of outdated) {
    writeFileSync(file, text);
    console.log(`Wrote ${file}.`);
  }
});
