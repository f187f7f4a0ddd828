import { expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { proseOf } from '../support/markdown-code.ts';
import { propertiesOf, readableTemplate, stageNames } from '../support/stack-template.ts';

const templates = stageNames.map(readableTemplate);

test('docs/oncall.md has the section that each alarm names, with what to look at, to do and to wait for', () => {
  const sections = proseOf(readFileSync('docs/oncall.md', 'utf8')).split(/^##? /m);
  const complete = sections.filter((section) =>
    /^\*\*Means\.\*\*[^]*^\*\*Look\.\*\*[^]*^\*\*Do\.\*\*[^]*^\*\*Done when\*\*/m.test(section),
  );
  const headings = new Set(complete.map((section) => section.split('\n', 1)[0]!));
  const alarms = templates.flatMap((template) => propertiesOf(template, 'AWS::CloudWatch::Alarm'));
  expect(alarms.length).toBeGreaterThan(10);
  const unexplained = alarms.filter(
    ({ AlarmDescription }) => !headings.has(/"([^"]+)"\.$/.exec(AlarmDescription)?.[1] ?? ''),
  );
  expect(unexplained.map(({ AlarmDescription }) => AlarmDescription)).toEqual([]);
});

test('pages name only saved queries that the stack contains', () => {
  const pages = globSync('{*,docs/**/*}.md').map((file) => readFileSync(file, 'utf8'));
  const mentions = pages.join('\n').matchAll(/oncall\.sh\s+query\s+([a-z-]+)/g);
  const named = new Set(Array.from(mentions, ([, query]) => query!));
  expect(named).toContain('find-cause');
  const queries = templates.flatMap((template) => propertiesOf(template, 'AWS::Logs::QueryDefinition'));
  // A stack without deprecated operations lacks this query.
  const known = new Set(['deprecated-calls', ...queries.map(({ Name }) => Name.split('/')[1])]);
  expect([...named.difference(known)]).toEqual([]);
});
