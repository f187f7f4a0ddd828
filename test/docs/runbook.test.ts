import { describe, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { proseOf } from '../support/markdown-code.ts';
import { propertiesOf, readableTemplate, resourcesOf, stageNames } from '../support/stack-template.ts';

const runbook = readFileSync('docs/runbook.md', 'utf8');
const templates = stageNames.map(readableTemplate);

const sections = proseOf(runbook).split(/^##? /m);
const headingOf = (section: string) => section.split('\n', 1)[0]!;

function matchesOf(pattern: RegExp, text: string): string[] {
  return Array.from(text.matchAll(pattern), ([, match]) => match!);
}

function unknown(names: string[], known: Iterable<string>): string[] {
  return [...new Set(names).difference(new Set(known))];
}

describe('docs/runbook.md', () => {
  const parts = ['Impact', 'Check', 'Fix', 'Resolved when'].join();
  /** Heading of each alarm's section, by the alarm's logical id without `Monitoring`. */
  const alarms = new Map<string, string>();
  for (const [id, { Properties }] of templates.flatMap((one) => resourcesOf(one, 'AWS::CloudWatch::Alarm')))
    alarms.set(id.slice('Monitoring'.length), Properties['AlarmDescription'].split('"').at(-2));

  test('has a section with the same four parts for each alarm', () => {
    const about = sections.filter((section) => matchesOf(/^### (.+)$/gm, section).join() === parts);
    const headings = new Set(about.map(headingOf));
    const missing = [...alarms].filter(([, section]) => !headings.has(section));
    const advice = `with the parts ${parts} to docs/runbook.md for`;
    expect(missing.map(([alarm, section]) => `Add the section "${section}" ${advice} ${alarm}.`)).toEqual([]);
  });

  test('contains each section that the code refers to', () => {
    const sources = globSync('{infra,shared,functions}/**/*.ts').map((file) => readFileSync(file, 'utf8'));
    const ofCode = matchesOf(/section "([^"]+)" in docs\/runbook\.md/g, sources.join('\n'));
    expect(ofCode).toContain('Put a proxy in front');
    expect(unknown(ofCode, sections.map(headingOf))).toEqual([]);
  });
});

test('the pages name only queries that the stack contains', () => {
  const pages = globSync('{*,docs/**/*}.md').map((file) => readFileSync(file, 'utf8'));
  const named = matchesOf(/oncall\.sh query ([a-z-]+)/g, pages.join('\n'));
  const queries = templates.flatMap((template) => propertiesOf(template, 'AWS::Logs::QueryDefinition'));
  // A stack without deprecated operations lacks this query.
  const known = ['deprecated-calls', ...queries.map(({ Name }) => Name.split('/')[1])];
  expect(named).not.toEqual([]);
  expect(unknown(named, known)).toEqual([]);
});
