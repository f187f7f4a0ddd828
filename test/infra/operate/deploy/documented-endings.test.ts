import { expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';

/** Code that prints the messages, without comments. Messages that `+` joins from several literals are joined. */
const source = globSync('infra/operate/deploy/*.ts')
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n')
  .replaceAll(/^ *(?:\/\/|\/\*\*|\*).*$/gm, '')
  .replaceAll(/['`] \+\n *['`]/g, '');

/** Last lines of a deployment in the table of docs/pipelines.md, in which `…` stands for text that differs. */
const endings = readFileSync('docs/pipelines.md', 'utf8')
  .split('\n| Last lines |')[1]!
  .split('\n\n')[0]!
  .split('\n')
  .flatMap((row) => row.split(' | ')[0]!.match(/(?<=`)[^`]+(?=`)/g) ?? []);

test.each(endings)('a deployment can print the documented line "%s"', (ending) => {
  const phrases = ending.split('…').map((phrase) => RegExp.escape(phrase));
  expect(source).toMatch(new RegExp(phrases.join('.+')));
});
