import { describe, expect, test } from '@jest/globals';
import { differences } from '../../../../infra/documents/changes/differences.ts';
import { readDocument } from '../../../../infra/documents/changes/document.ts';
import { withChanges } from './json-changes.ts';

const base = withChanges(readDocument('openapi.json'), 'added POST /pets › x-sunset: "2030-12-05"');
const JSON_SCHEMA = 'content › application/json › schema';
const NEW_PET = `POST /pets › requestBody › ${JSON_SCHEMA}`;
const PET = `POST /pets › responses › 201 › ${JSON_SCHEMA}`;
const LIST = `GET /pets › responses › 200 › ${JSON_SCHEMA}`;
const ERROR = `GET /pets › responses › 400 › ${JSON_SCHEMA}`;
const LIMIT = 'GET /pets › parameters › limit';
const CURSOR = 'GET /pets › parameters › cursor';
const LINK = 'GET /pets › responses › 200 › headers › Link';
const RETRY_AFTER = 'GET /pets › responses › 503 › headers › Retry-After';
const LOCATION = 'POST /pets › responses › 201 › headers › Location';

function daysFromNow(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}

const breaking = [
  'removed GET /pets/{petId}',
  'removed GET /pets › parameters › status',
  'changed GET /pets › parameters › status › in: "query" → "header"',
  'changed GET /pets › parameters › status › required: false → true',
  'added GET /pets › parameters › store: {"name":"store","in":"query","required":true}',
  'added GET /pets › requestBody: {"required":true}',
  'changed POST /pets › x-sunset: "2030-12-05" → "2029-12-05"',
  'changed POST /pets › x-sunset: "2030-12-05" → "soon"',
  `added GET /pets › x-sunset: "${daysFromNow(360)}"`,
  // Requests
  `changed ${LIMIT} › schema › maximum: 100 → 50`,
  `changed ${LIMIT} › schema › maximum: 100 → "50"`,
  `changed ${LIMIT} › schema › minimum: 1 → 2`,
  `changed ${LIMIT} › schema › default: 20 → 10`,
  `changed ${LIMIT} › schema › type: "integer" → "number"`,
  'added GET /pets › parameters › status › schema › minLength: 1',
  'added GET /pets › parameters › status › schema › maxLength: 10',
  `added ${CURSOR} › schema › items: {"type":"string"}`,
  `added ${CURSOR} › schema › enum: ["a"]`,
  'removed GET /pets › parameters › status › schema › enum › "sold"',
  `removed ${NEW_PET} › properties › status`,
  `added ${NEW_PET} › required › "status"`,
  `added ${NEW_PET} › additionalProperties: false`,
  `added ${NEW_PET} › properties › name › format: "email"`,
  'added GET /pets › parameters › status › schema › pattern: "^[a-z]"',
  `changed ${NEW_PET} › properties › categoryId › maximum: 9223372036854775807 → 9223372036854775806`,
  'removed POST /pets › requestBody › content › application/json',
  // Responses
  'removed POST /pets › responses › 201',
  `removed ${LIST} › items`,
  `removed ${LIST} › items › properties › status`,
  `removed ${PET} › required › "categoryId"`,
  `changed ${PET} › properties › id › format: "int64" → "int32"`,
  `removed ${PET} › properties › id › maximum: 9007199254740991`,
  `changed ${ERROR} › properties › status › maximum: 599 → 699`,
  `added ${LIST} › items › properties › status › enum › "nonsense"`,
  `removed ${LINK}`,
  `removed ${LOCATION} › required: true`,
  'added GET /pets › responses › 200 › headers › Cache-Control › schema › enum › "private"',
  'removed x-other-requests › responses › 405',
  // Security
  'changed security: [{"bearerAuth":[]}] → [{"bearerAuth":[],"signature":[]}]',
  'added GET /pets › security: [{"signature":[]}]',
  'changed components › securitySchemes › bearerAuth › scheme: "bearer" → "basic"',
  'removed components › securitySchemes › bearerAuth',
  'added components › securitySchemes › signature: {"type":"http"}',
];

const unknown = [
  `changed ${RETRY_AFTER} › schema › pattern: "^[0-9]+$" → "^[1-9]"`,
  `removed ${RETRY_AFTER} › schema › pattern`,
  'added x-quota: 1',
  'added components › links: {}',
  'added paths › /pets › parameters: []',
  'added GET /pets › toString: 1',
  `added ${LIMIT} › style: "form"`,
  `added POST /pets › requestBody › x-quota: 1`,
  `added POST /pets › requestBody › content › application/json › encoding: {}`,
  `added ${NEW_PET} › dependentRequired: {"name":["status"]}`,
  `added ${PET} › properties › name › oneOf: []`,
  `added ${LINK} › explode: true`,
  'added x-other-requests › security: []',
  'changed openapi: "3.1.1" → "3.2.0"',
  `changed ${LIMIT} › schema: {"type":"integer","format":"int32","minimum":1,"maximum":100… → true`,
];

const safe = [
  'added GET /pets › parameters › store: {"name":"store","in":"query"}',
  `added GET /pets › x-sunset: "${daysFromNow(370)}"`,
  'removed POST /pets › x-sunset: "2030-12-05"',
  'removed POST /pets › responses › 201 › links',
  'added POST /pets › x-deprecated-reason: "Unused."',
  'changed POST /pets › x-sunset: "2030-12-05" → "2031-12-05"',
  'removed GET /pets › parameters › status › required: false',
  `changed ${LIMIT} › schema › maximum: 100 → 200`,
  `removed ${LIMIT} › schema › maximum: 100`,
  `changed ${LIMIT} › schema › minimum: 1 → 0`,
  'added GET /pets › parameters › status › schema › enum › "nonsense"',
  'removed GET /pets › parameters › status › schema › enum',
  `added ${NEW_PET} › properties › tag: {"type":"string"}`,
  `removed ${NEW_PET} › required › "categoryId"`,
  `added ${PET} › properties › tag: {"type":"string"}`,
  `added ${PET} › required › "status"`,
  `added ${PET} › properties › name › maxLength: 100`,
  `changed ${LIST} › maxItems: 100 → 200`,
  `removed ${LIST} › maxItems: 100`,
  `changed ${PET} › properties › id › minimum: 1 → 2`,
  `removed ${ERROR} › properties › code › x-extensible-enum`,
  'added GET /pets › responses › 410: {"description":"Gone."}',
  'added GET /pets › responses › 200 › headers › Age: {"required":true}',
  `added ${LINK} › required: true`,
  `added ${LOCATION} › schema › maxLength: 36`,
  // Text for people
  'changed info › title: "Pet store" → "Pets"',
  'removed servers',
  'removed tags',
  'removed components › securitySchemes › bearerAuth › description',
  'removed externalDocs',
  'changed GET /pets › operationId: "listPets" → "pets"',
  'changed GET /pets › summary: "List pets" → "Pets"',
  'added GET /pets › deprecated: true',
  `changed ${LIMIT} › example: 2 → 3`,
  'removed POST /pets › requestBody › content › application/json › example',
  `added ${NEW_PET} › properties › name › examples: ["Rex"]`,
  'removed x-other-requests › description',
];

describe.each([
  ['breaking', breaking],
  ['cannot classify', unknown],
  ['non-breaking', safe],
])('%s:', (verdict, changes) => {
  test.each(changes)('%s', (change) => {
    const expected = `${verdict}: ${change}`;
    const lines = differences(base, withChanges(base, change));
    expect(lines.map((line) => line.slice(0, expected.length))).toEqual([expected]);
  });
});

test.each([
  [daysFromNow(-2), 'non-breaking'],
  [daysFromNow(2), 'breaking'],
])('removing an operation with the sunset date %s is %s', (day, verdict) => {
  const announced = withChanges(base, `changed POST /pets › x-sunset: "2030-12-05" → "${day}"`);
  const removed = withChanges(announced, 'removed POST /pets');
  expect(differences(announced, removed)).toEqual([
    expect.stringMatching(new RegExp(`^${verdict}: removed`)),
  ]);
});
