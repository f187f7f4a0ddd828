import { cpSync, globSync, mkdtempSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const projectRoot = fileURLToPath(new URL('../../../..', import.meta.url));

/** A copy of the project in a new folder within this one, whose sources a test may change. */
export function copyProject(within: string) {
  const folder = mkdtempSync(join(within, 'project-'));
  for (const part of globSync('{*.json,functions,infra,shared}', { cwd: projectRoot }))
    cpSync(join(projectRoot, part), join(folder, part), { recursive: true });
  symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'), 'junction');
  return {
    folder,
    read: (file: string) => readFileSync(join(folder, file), 'utf8'),
    write: (file: string, text: string) => writeFileSync(join(folder, file), text),
    /** Puts another file in its place, as many editors save. */
    replace(file: string, text: string) {
      writeFileSync(join(folder, `${file}.saving`), text);
      renameSync(join(folder, `${file}.saving`), join(folder, file));
    },
  };
}
