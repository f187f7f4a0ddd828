import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the position, such as `shared/names.ts:60`, of the first line that contains `text`. */
export function sourcePosition(file: string, text: string, project = '.'): string {
  const lines = readFileSync(join(project, file), 'utf8').split('\n');
  return `${file}:${lines.findIndex((line) => line.includes(text)) + 1}`;
}
