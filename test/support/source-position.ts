import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the position, such as `shared/names.ts:60`, of the first line that contains `text`.
 *
 * @throws Error if no line contains the text, because a test would wait in vain for the position.
 */
export function sourcePosition(file: string, text: string, project = '.'): string {
  const lines = readFileSync(join(project, file), 'utf8').split('\n');
  const index = lines.findIndex((line) => line.includes(text));
  if (index === -1) throw new Error(`No line of ${file} contains ${text}. Change the text in the test.`);
  return `${file}:${index + 1}`;
}
