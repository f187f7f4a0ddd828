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
  await run('git init --quiet && echo node_modules >> .git/info/exclude && git add --all');
  await run('git -c user.name=Developer -c user.email=developer@example.com commit --quiet --message Copy');
  for (const { info, code } of codeBlocksIn(readFileSync('docs/adapt.md', 'utf8'))) {
    const [, file] = /^ts (\S+)$/.exec(info) ?? [];
    if (info === 'sh adapt') await run(code);
    if (file) insert(file, code);
  }
  await run('git add --all && npm run check && npm test');
  // The only other word that ends with "pet" is "snippet".
  await run(
    `! git grep -InE '(^|[^p])[Pp]et(s|[^a-z]|$)|PET|Rex|REX|rex[^a-z]|Mia' -- ':!*package-lock.json'`,
  );
});

/** Runs a script in the copy of the project. @throws Error with the script's output if the script fails */
async function run(script: string): Promise<void> {
  const options = { cwd: project.folder, env, maxBuffer: Infinity };
  const { code, stdout, stderr } = await outcomeOf(promisify(execFile)('sh', ['-ec', script], options));
  if (code !== 0) throw new Error(`${script}\n${stdout}${stderr}`);
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
