import { globSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { basename, join } from 'node:path';

/** Folder of the source maps, next to the folders of the bundles. It is not part of an asset, so it is never deployed. */
export const sourceMapsFolder = 'source-maps';

/**
 * Matches the end of a position in a bundle, such as `-0a1b2c3d.mjs:1:234` in `file:///var/task/get-book-0a1b2c3d.mjs:1:234`.
 * Functions can log any text. If the pattern also matched the path before the end, which can have any length, a long
 * line would take quadratic time.
 */
const END_OF_POSITION = /-[\da-f]{8}\.mjs:(\d+):(\d+)/g;
const NAME_CHARACTER = /[\w-]/;
const PATH_CHARACTER = /[^\s("',]/;

interface Position {
  /** Start and end of the position in the text, including the path of the bundle's folder. */
  start: number;
  end: number;
  /** File name of the bundle. */
  bundle: string;
  line: number;
  column: number;
}

const loaded = new Map<string, SourceMap>();

/** Returns the names of the bundles whose positions are in `text`. */
export function bundlesIn(text: string): Set<string> {
  const bundles = new Set<string>();
  for (const { bundle } of positionsIn(text)) bundles.add(bundle);
  return bundles;
}

/**
 * Replaces positions in bundles with positions in sources, such as `functions/get-book.ts:5:20`. Positions in bundles
 * without a source map remain.
 *
 * @param folders folders to search for source maps, including their subfolders
 */
export function toSources(text: string, folders: string[]): string {
  const bundles = bundlesIn(text);
  if (bundles.size === 0) return text;
  loadSourceMaps(bundles, folders);
  const parts: string[] = [];
  let end = 0;
  for (const position of positionsIn(text)) {
    const origin = loaded.get(position.bundle)?.findOrigin(position.line, position.column);
    if (!origin || !('fileName' in origin)) continue;
    parts.push(text.slice(end, position.start));
    parts.push(`${origin.fileName}:${origin.lineNumber}:${origin.columnNumber}`);
    end = position.end;
  }
  return parts.join('') + text.slice(end);
}

/**
 * Finds the positions in time that is proportional to the text's length, because the search for the start of a position
 * does not go back beyond the previous one.
 */
function* positionsIn(text: string): Generator<Position> {
  let previousEnd = 0;
  for (const { 0: match, 1: line, 2: column, index } of text.matchAll(END_OF_POSITION)) {
    const nameStart = startOfRun(text, NAME_CHARACTER, previousEnd, index);
    if (nameStart === index) continue;
    const hasFolder = nameStart > previousEnd && text[nameStart - 1] === '/';
    const start = hasFolder ? startOfRun(text, PATH_CHARACTER, previousEnd, nameStart) : nameStart;
    const nameEnd = index + match.indexOf(':');
    previousEnd = index + match.length;
    const bundle = text.slice(nameStart, nameEnd);
    yield { start, end: previousEnd, bundle, line: Number(line), column: Number(column) };
  }
}

/** Returns the start of the run of characters that match `pattern` and end at `end`. The run starts at `least` or later. */
function startOfRun(text: string, pattern: RegExp, least: number, end: number): number {
  let start = end;
  while (start > least && pattern.test(text[start - 1]!)) start -= 1;
  return start;
}

/** Loads the source maps of the bundles. Lists each folder once, not once per bundle, as a text can name many bundles. */
function loadSourceMaps(bundles: Set<string>, folders: string[]): void {
  if (bundles.isSubsetOf(loaded)) return;
  for (const folder of folders) {
    for (const name of globSync('**/*.mjs.map', { cwd: folder })) {
      const bundle = basename(name, '.map');
      if (!bundles.has(bundle) || loaded.has(bundle)) continue;
      loaded.set(bundle, new SourceMap(JSON.parse(readFileSync(join(folder, name), 'utf8'))));
    }
  }
}
