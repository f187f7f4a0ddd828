import { expect, test } from '@jest/globals';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allFiles, copyProject } from './infra/local/project-copy.ts';
import { changes, stagesWith } from './support/changed-stages.ts';
import { codeBlocksIn } from './support/markdown-code.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

const folder = temporaryFolder();
const document = readFileSync('docs/adapt.md', 'utf8');
const steps = codeBlocksIn(document).filter(({ info }) => info === 'sh adapt' || info.startsWith('ts '));

async function newProject() {
  const project = copyProject(folder, allFiles());
  const commit =
    'git -c user.name=Developer -c user.email=developer@example.com commit --quiet --message Copy';
  const setUp = `git init --quiet && echo node_modules >> .git/info/exclude && git add --all && ${commit}`;
  expect(await project.failureOf(setUp)).toBe('');
  return project;
}

type Project = Awaited<ReturnType<typeof newProject>>;

test('the steps in docs/adapt.md create a service that mentions no pets and passes all checks with changed settings', async () => {
  const project = await newProject();
  for (const { info, code } of steps) {
    const [language, file] = info.split(' ') as [string, string];
    expect(language === 'sh' ? await project.failureOf(code) : insert(project, file, code)).toBe('');
  }
  project.write('infra/stages.ts', stagesWith(...Object.values(changes)));
  for (const file of globSync('{*.md,docs/*.md,{shared,functions,infra}/**/*.ts}', { cwd: project.folder }))
    project.write(file, project.read(file).replaceAll(/premise:.*/gi, adapted));
  const generate = 'npx oxfmt && npm run generate && cp openapi.json docs/openapi-released.json';
  expect(await project.failureOf(`${generate} && git add --all && npm run check && npm test`)).toBe('');
  // The pattern excludes "ppet", because the project contains the word "snippet".
  const words = '(^|[^p])[Pp]et(s|[^a-z]|$)|PET|Rex|REX|rex[^a-z]|Mia';
  expect(await project.failureOf(`! git grep -InE '${words}' -- ':!*package-lock.json'`)).toBe('');
});

test('with other names in docs/adapt.mjs, the adapted service compiles', async () => {
  const project = await newProject();
  const [remove, rename] = steps.map(({ code }) => code) as [string, string];
  const others: Record<string, string> = {
    book: 'gadget',
    Dune: 'Drill',
    Emma: 'Saw',
    shelf: 'vendorId',
    title: 'label',
  };
  const script = project.read('docs/adapt.mjs');
  const changed = script.replaceAll(/(?<=')\w+(?=')/g, (word) => others[word] ?? word);
  project.write('docs/adapt.mjs', changed);
  expect(await project.failureOf(`${remove}${rename.split('\nnpx oxfmt')[0]}\nnpx tsc`)).toBe('');
});

/**
 * Corrects the premises of a sentence (see "Rules" in CONTRIBUTING.md) for the adapted service. A developer would also
 * correct the sentence.
 */
function adapted(premises: string): string {
  return premises.replace('no PUT', '1 PUT').replace('3 operations', '4 operations');
}

/**
 * Creates `file` with the content `code`. If `file` exists, puts `code` in place of the line that equals the first or
 * last line of `code`. Returns an error message, or an empty string.
 */
function insert(project: Project, file: string, code: string): string {
  const isNew = !existsSync(join(project.folder, file));
  const text = isNew ? '' : project.read(file);
  const lines = code.trimEnd().split('\n');
  const anchor = [lines[0], lines.at(-1)].find((line) => text.split(`\n${line}\n`).length === 2);
  project.write(file, isNew ? code : text.replace(`\n${anchor}\n`, () => `\n${code}`));
  return isNew || anchor ? '' : `${file} must contain the first or last line of its code block once.`;
}
