import { execFile } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { devNull } from 'node:os';
import { basename, join, matchesGlob, resolve } from 'node:path';
import { promisify } from 'node:util';
import { commandEnvironment, outcomeOf } from './run-command.ts';

/** Glob pattern of the files and folders that the project's commands need. */
const SOURCES = '{*.json,functions,infra,shared}';

/** Returns the files and folders at the root of the project that Git does not ignore. */
export function allParts(): string[] {
  const ignored = ['.git', ...readFileSync('.gitignore', 'utf8').replaceAll('/', '').trim().split('\n')];
  return readdirSync('.').filter((name) => !ignored.some((pattern) => matchesGlob(name, pattern)));
}

const isSource = (path: string): boolean => basename(path) !== 'node_modules';

/** Copies `parts` of the project to a new folder in `parent` so that a test can change the sources. */
export function copyProject(parent: string, parts = globSync(SOURCES)) {
  const folder = mkdtempSync(join(parent, 'project-'));
  for (const part of parts) cpSync(part, join(folder, part), { recursive: true, filter: isSource });
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'), 'junction');
  return {
    folder,
    read: (file: string) => readFileSync(join(folder, file), 'utf8'),
    write: (file: string, text: string) => writeFileSync(join(folder, file), text),
    /** Writes a temporary file and renames it to `file`, as many editors do. */
    replace(file: string, text: string) {
      writeFileSync(join(folder, `${file}.saving`), text);
      renameSync(join(folder, `${file}.saving`), join(folder, file));
    },
    /**
     * Runs a shell script in the copy. Returns an empty string, or the script and its output if the script fails.
     * Lines are cut after 1,000 characters, because Jest needs minutes to show a line of some 100 kB.
     */
    async failureOf(script: string, variables: Record<string, string> = {}): Promise<string> {
      // Tests in the copy must not use this run's shared synthesis, because the copy's sources can differ.
      const { TEST_RUN_FOLDER: _folder, ...env } = commandEnvironment(variables);
      // The developer's Git settings are ignored, because they can change files or require hooks, for example.
      const options = { cwd: folder, env: { ...env, GIT_CONFIG_GLOBAL: devNull }, maxBuffer: Infinity };
      const { code, stdout, stderr } = await outcomeOf(promisify(execFile)('sh', ['-ec', script], options));
      return code === 0 ? '' : `${script}\n${stdout}${stderr}`.replace(/(.{1000}).+/g, '$1…');
    },
  };
}
