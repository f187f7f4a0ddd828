import { expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { proseOf } from '../support/markdown-code.ts';
import { propertiesOf, readableTemplate, resourcesOf, stageNames } from '../support/stack-template.ts';

const templates = stageNames.map(readableTemplate);

const page = proseOf(readFileSync('docs/oncall.md', 'utf8'));

test('docs/oncall.md has the section that each alarm names, with what it means, what to look at, to do and to wait for', () => {
  const sections = /^# Alarms$([^]*?)^# /m.exec(page)![1]!.split(/^## /m).slice(1);
  const parts = ['Means\\.', 'Look\\.', 'Do\\.', 'Done when'].map(
    (part) => `^\\*\\*${part}\\*\\*\\s+[^*\\s][^]*`,
  );
  const incomplete = sections.filter((section) => !new RegExp(parts.join(''), 'm').test(section));
  expect(incomplete.map((section) => section.split('\n', 1)[0])).toEqual([]);
  const headings = new Set(sections.map((section) => section.split('\n', 1)[0]!));
  const alarms = templates.flatMap((template) => propertiesOf(template, 'AWS::CloudWatch::Alarm'));
  expect(alarms.length).toBeGreaterThan(10);
  const unexplained = alarms.filter(
    ({ AlarmDescription }) => !headings.has(/"([^"]+)"\.$/.exec(AlarmDescription)?.[1] ?? ''),
  );
  expect(unexplained.map(({ AlarmDescription }) => AlarmDescription)).toEqual([]);
});

test('the first table of docs/oncall.md leads from each alarm with a notification to its section', () => {
  const rows = page.match(/^\|.*$/gm)!;
  const missing = templates
    .flatMap((template) => resourcesOf(template, 'AWS::CloudWatch::Alarm'))
    .filter(([, { Properties }]) => Properties['AlarmActions'])
    .map(([id]) => id.replace('Monitoring', '').replace(/.*(?=Throttles$)/, '…'))
    .filter((name) => !rows.some((row) => row.includes(`\`${name}\``)));
  expect(missing).toEqual([]);
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
