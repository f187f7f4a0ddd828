import { expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { openApiDocument } from './support/openapi-document.ts';

// Sentences that depend on the contract have premises, which "Rules" in CONTRIBUTING.md describes.

const FORMS = '"no DELETE", "1 POST", "no 409" or "3 operations"';
const PREMISE = /^(no|[1-9]\d*) (GET|POST|PUT|PATCH|DELETE|[1-5]\d\d|operations)$/;
const MARK_IN_SOURCE = /\bPremise:(.*)/g;
// Excludes the comments around generated text. All other comments in documents are premises.
const MARK_IN_DOCUMENT = /(?<!`)<!--(?! generated:| end -->)(?: premise:)?([^]*?)-->/g;
const SENTENCE_END = /\n\s*\n|(?<=[.:!?]\**)(?:\\n)*[\s'+]+(?=[A-Z*`"[])|-->|\||^ *(?:[-#]+|\d+\.) |\/[/*]+/m;
const PARAGRAPH_END = /\n\s*\n|\n *(?:[-|#]|\d+\.) /;

const TELLTALES = [
  'never (?:changes|changed|deletes|deleted|removed|updated)|can only (?:list|read)',
  'never (?:skip|repeat)s?',
  'no operation (?:can )?(?:change|delete|remove|update)s?|no client gets an? \\d{3}',
  '(?:all|only|the) (?:two|three|four|five|\\d+) (?:operations|functions)',
];
const TELLTALE = new RegExp(TELLTALES.join('|').replaceAll(' ', '[\\s/*]+'), 'gi');

// The excluded documents describe other versions of the contract.
const exclude = ['docs/adapt.md', 'docs/changelog.md'];
const patterns = ['*.md', 'docs/*.md', '.github/*.md', '{shared,functions,infra}/**/*.ts'];
const files = globSync(patterns, { exclude }).toSorted();
const texts = files.map((file) => ({ file, text: readFileSync(file, 'utf8') }));

test('the premises of sentences that depend on the contract agree with openapi.json', () => {
  const { operations, others } = openApiDocument();
  const found = operations.flatMap((row) => ['operations', row.method, ...Object.keys(row.responses)]);
  const counts = Map.groupBy([...found, ...Object.keys(others)], (name) => name);
  const truth = ([, what]: string[]) => `${counts.get(what!)?.length ?? 'no'} ${what}`;
  const marks = texts.flatMap(marksIn);
  expect(marks).not.toEqual([]);
  const problems = marks.flatMap(({ place, premises }) => {
    const unknown = premises.filter((premise) => !PREMISE.test(premise));
    if (unknown.length > 0)
      return `${place} has the invalid premise "${unknown.join(', ')}". Write ${FORMS}.`;
    const untrue = premises.filter((premise) => premise !== truth(premise.split(' ')));
    if (untrue.length === 0) return [];
    return `${place} depends on "${untrue.join(', ')}", which is false. Correct the sentence or the premise.`;
  });
  expect(problems.join('\n')).toBe('');
});

test('sentences that often depend on the contract, such as those with "never deletes", have a premise', () => {
  const problems = texts.flatMap(({ file, text }) => {
    const mark = file.endsWith('.md') ? '<!-- premise: no DELETE -->' : '// Premise: no DELETE';
    return Array.from(text.matchAll(TELLTALE)).flatMap(({ 0: phrase, index }) => {
      if (/premise:/i.test(text.slice(index).split(PARAGRAPH_END)[0]!)) return [];
      return `${file}:${lineOf(text, index)} "${phrase}" has no premise. Add one after the sentence, such as ${mark}.`;
    });
  });
  expect(problems.join('\n')).toBe('');
});

function marksIn({ file, text }: (typeof texts)[number]) {
  const marks = text.matchAll(file.endsWith('.md') ? MARK_IN_DOCUMENT : MARK_IN_SOURCE);
  return Array.from(marks, ({ index, 1: premises }) => {
    const before = text.slice(0, index).replace(/(?:['`] \+|',)?[\s/*]+$/, '');
    const sentence = before.split(SENTENCE_END).at(-1)!;
    return {
      place: `${file}:${lineOf(before, before.length - sentence.length)} "${plain(sentence)}"`,
      premises: plain(premises!).split(', '),
    };
  });
}

const lineOf = (text: string, index: number) => text.slice(0, index).split('\n').length;

/** Returns the text on one line, without the syntax of comments and strings. */
const plain = (text: string) => text.trim().replaceAll(/ *['`] \+\s+['`]|\s+(?:\/\/ |\* )?/g, ' ');
