import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { allFiles, copyProject } from './infra/local/project-copy.ts';
import { codeBlocksIn } from './support/markdown-code.ts';
import { commandEnvironment, outcomeOf } from './support/run-command.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

const project = copyProject(temporaryFolder(), allFiles());
const { TEST_RUN_FOLDER: _folder, ...env } = commandEnvironment({});

test('the steps in docs/adapt.md turn the project into a service for books that passes all checks', async () => {
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
  await expectSuccess('git add --all && npm run check && npm test');
  // The only other word that ends with "pet" is "snippet".
  const words = '(^|[^p])[Pp]et(s|[^a-z]|$)|PET|Rex|REX|rex[^a-z]|Mia';
  await expectSuccess(`! git grep -InE '${words}' -- ':!*package-lock.json'`);
});

/** Runs a script in the copy of the project. If the script fails, the test fails with its output. */
async function expectSuccess(script: string): Promise<void> {
  const options = { cwd: project.folder, env, maxBuffer: Infinity };
  const { code, stdout, stderr } = await outcomeOf(promisify(execFile)('sh', ['-ec', script], options));
  expect(code === 0 ? '' : `${script}\n${stdout}${stderr}`).toBe('');
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
