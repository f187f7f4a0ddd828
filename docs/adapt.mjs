// Turns this project into a service for another resource. docs/adapt.md describes the words to replace.
import { execFileSync } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

const words = {
  pet: 'book',
  Rex: 'Dune',
  Mia: 'Emma',
  '🐾': '📚',
  categoryId: 'shelf',
  category_id: 'shelf',
};
const states = { available: 'in_stock', pending: 'lent', sold: 'lost' };
const [field, newField] = ['name', 'title'];

/** Returns `word` in the same case as `found`. */
function inCaseOf(found, word) {
  if (/^[A-Z\d_]+$/.test(found)) return word.toUpperCase();
  return (/^[A-Z]/.test(found) ? word[0].toUpperCase() : word[0].toLowerCase()) + word.slice(1);
}

function replaceWords(text) {
  return Object.entries(words).reduce((result, [word, other]) => {
    const forms = [word, inCaseOf('Xx', word), inCaseOf('x', word), inCaseOf('X', word)].join('|');
    return result.replaceAll(new RegExp(`snippet|${forms}`, 'g'), (found) =>
      found === 'snippet' ? found : inCaseOf(found, other),
    );
  }, text);
}

// The states are common words, so they are replaced only in quotes, index keys and query strings.
function replaceStates(text) {
  const pattern = new RegExp(`(?<=["'\`=])(${Object.keys(states).join('|')})(?=["'\`#&])`, 'g');
  return text.replaceAll(pattern, (state) => states[state]);
}

// The field's name is a common word too. Except in names of constants, it is replaced only on lines that contain an
// example value, another field or a schema.
function replaceField(text) {
  const examples = Object.values(words).slice(1).join('|');
  const about = new RegExp(`${examples}|textField = |"message":"${field} |: v\\.pipe`, 'i');
  const upper = `_${field.toUpperCase()}_`;
  return text
    .replaceAll(upper, `_${newField.toUpperCase()}_`)
    .split('\n')
    .map((line) => (about.test(line) ? line.replaceAll(new RegExp(`\\b${field}\\b`, 'g'), newField) : line));
}

/** Moves words beyond the 120th character of a line of prose to the next line. */
function wrap(lines) {
  let isCode = false;
  for (let at = 0; at < lines.length; at += 1) {
    if (/^ *```/.test(lines[at])) isCode = !isCode;
    const indent = /^ *(?:- |\d+\. )?/.exec(lines[at])[0].replaceAll(/\S/g, ' ');
    const end = lines[at].lastIndexOf(' ', 120);
    if (isCode || lines[at].length <= 120 || lines[at].startsWith('|') || end <= indent.length) continue;
    const rest = indent + lines[at].slice(end + 1);
    lines[at] = lines[at].slice(0, end);
    if (/^ *[A-Za-z`[(]/.test(lines[at + 1] ?? '')) lines[at + 1] = `${rest} ${lines[at + 1].trimStart()}`;
    else lines.splice(at + 1, 0, rest);
  }
}

const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n');
for (const file of files.filter((path) => !/package-lock\.json$|\.png$|^docs\/adapt\.mjs$/.test(path))) {
  const text = readFileSync(file, 'utf8')
    .replaceAll(/\[([^\]]+)\]\(docs\/adapt\.md\)/g, '$1')
    .replaceAll(/'docs\/adapt\.md', /g, '')
    .replaceAll(/.*docs\/adapt\.md.*\n/g, '');
  const lines = replaceField(replaceStates(replaceWords(text)));
  if (file.endsWith('.md')) wrap(lines);
  writeFileSync(file, lines.join('\n'));
  if (replaceWords(file) !== file) renameSync(file, replaceWords(file));
}

const lock = readFileSync('package-lock.json', 'utf8').replaceAll('"pet-store"', replaceWords('"pet-store"'));
writeFileSync('package-lock.json', lock);
const [changelog] = readFileSync('docs/changelog.md', 'utf8').split(/^## /m);
writeFileSync(
  'docs/changelog.md',
  `${changelog}## ${new Date().toISOString().slice(0, 10)}\n\n- First release.\n`,
);
