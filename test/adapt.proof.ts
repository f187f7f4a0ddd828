import { expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allFiles, copyProject } from './infra/local/project-copy.ts';
import { changes, stagesWith } from './support/changed-stages.ts';
import { codeBlocksIn } from './support/markdown-code.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

const project = copyProject(temporaryFolder(), allFiles());

test('after the steps in docs/adapt.md and all changes of settings, a service for books passes all checks', async () => {
  const commit =
    'git -c user.name=Developer -c user.email=developer@example.com commit --quiet --message Copy';
  await expectSuccess(
    `git init --quiet && echo node_modules >> .git/info/exclude && git add --all && ${commit}`,
  );
  for (const { info, code } of codeBlocksIn(readFileSync('docs/adapt.md', 'utf8'))) {
    const [, file] = /^ts (\S+)$/.exec(info) ?? [];
    if (info === 'sh adapt') await expectSuccess(code);
    if (file) insert(file, code);
  }
  project.write('infra/stages.ts', stagesWith(...Object.values(changes)));
  await expectSuccess(
    'npx oxfmt infra/stages.ts && npm run generate && cp openapi.json docs/openapi-released.json',
  );
  await expectSuccess('git add --all && npm run check && npm test');
  // The only other word that ends with "pet" is "snippet".
  const words = '(^|[^p])[Pp]et(s|[^a-z]|$)|PET|Rex|REX|rex[^a-z]|Mia';
  await expectSuccess(`! git grep -InE '${words}' -- ':!*package-lock.json'`);
});

async function expectSuccess(script: string): Promise<void> {
  expect(await project.failureOf(script)).toBe('');
}

/** Inserts lines after the first line or before the last line of `code`, whichever `file` contains. */
function insert(file: string, code: string): void {
  if (!existsSync(join(project.folder, file))) return project.write(file, code);
  const lines = code.trimEnd().split('\n');
  const anchor = [lines[0]!, lines.at(-1)!].find(
    (line) => project.read(file).split(`\n${line}\n`).length === 2,
  );
  if (anchor === undefined)
    throw new Error(`docs/adapt.md: ${file} contains neither the first nor the last line.`);
  project.write(
    file,
    project.read(file).replace(`\n${anchor}\n`, () => `\n${code}`),
  );
}
