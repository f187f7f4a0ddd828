import { expect, jest, test } from '@jest/globals';
import { App } from 'aws-cdk-lib';
import { addAnnotations } from '../../infra/stack/annotations.ts';
import { addFunctions } from '../../infra/stack/functions.ts';
import type { StageSettings } from '../../infra/settings.ts';
import { StageStack } from '../../infra/stack/stage-stack.ts';
import { addTables, indexKey } from '../../infra/stack/storage.ts';
import type { Operation } from '../../shared/contract/operation.ts';
import { collections, operations } from '../../shared/contract/operations.ts';
import { books } from '../support/books.ts';
import { domain, stages } from '../support/stages.ts';

// The tests that call constructs are in one file, because loading the CDK takes longer than running them. All other tests
// read templates.

const stackOf = (settings: Partial<StageSettings>) =>
  new StageStack(new App(), { ...stages.production, ...settings, name: 'production' });

test('the synthesis fails if an operation has no function, and names the missing file', () => {
  const stack = stackOf({});
  expect(() => addFunctions(stack, new Map(), addTables(stack))).toThrow(
    'The operation listPets has no function. Add functions/list-pets.ts.',
  );
});

// A template with a wrong type deploys, but DynamoDB rejects each item whose field has another type than the index key.
test('an index key is a number if its field is an integer, and otherwise a text', () => {
  const keys = ['genre', 'shelf', 'genre-and-shelf', 'list'].map((name) => indexKey(books, name));
  expect(keys.map(({ name, type }) => [name, type])).toEqual([
    ['genre', 'S'],
    ['shelf', 'N'],
    ['genre-and-shelf', 'S'],
    ['list', 'S'],
  ]);
});

test('the synthesis warns about a sunset that is 180 days or less away', () => {
  const [since, sunset] = [new Date('2026-11-21'), new Date('2030-12-05')];
  const deprecation = { since, sunset, successor: '/v1/books', advice: 'List books instead.' } as const;
  const byId: Record<string, Operation> = operations;
  const { get } = collections[0].operations;
  const replaced = jest.replaceProperty(byId, get.id, { ...get, deprecation });
  const days = ['2030-06-07T23:59:59Z', '2030-06-08T00:00:00Z', '2031-12-05T00:00:00Z'];
  const warnings = days.map((day) =>
    annotationsOf({}, '', day).filter((line) =>
      line.includes(`${get.id} is scheduled for removal on 2030-12-05.`),
    ),
  );
  replaced.restore();
  expect(warnings.map(({ length }) => length)).toEqual([0, 1, 1]);
});

test('the synthesis reports a missing email address and a certificate in the wrong region', () => {
  expect(annotationsOf({ domain }, 'us-east-1')).toEqual([
    expect.stringMatching(/^warning: alarmEmail in infra\/stages\.ts is null\. Enter an email address, /),
    expect.stringMatching(/^error: domain\.certificateArn .* in us-east-1, .* not in eu-central-1\. /),
  ]);
  for (const region of ['eu-central-1', ''])
    expect(annotationsOf({ domain, alarmEmail: 'operators@example.com' }, region)).toEqual([]);
});

/** Returns the warnings and errors of production, for which the CDK uses us-east-1 if `region` is empty. */
function annotationsOf(settings: Partial<StageSettings>, region: string, day = '2029-01-01'): string[] {
  Object.assign(process.env, { AWS_REGION: region, CDK_DEFAULT_REGION: region || 'us-east-1' });
  const stack = stackOf(settings);
  addAnnotations(stack, new Date(day));
  return stack.node.metadata.flatMap(({ type, data }) =>
    /error|warning/.test(type) ? `${type.slice(8)}: ${data}` : [],
  );
}
