import { cpSync, globSync, mkdtempSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Copies the project to a new folder in `parent` so that a test can change the sources. */
export function copyProject(parent: string) {
  const folder = mkdtempSync(join(parent, 'project-'));
  for (const part of globSync('{*.json,README.md,docs,functions,infra,shared}'))
    cpSync(part, join(folder, part), { recursive: true });
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
  };
}
