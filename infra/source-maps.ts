import { globSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';

/** Folder of the source maps, next to the folders of the bundles. It is not part of an asset, so it is never deployed. */
export const sourceMapsFolder = 'source-maps';

/** Matches positions in bundles, such as `file:///var/task/get-book-0a1b2c3d.mjs:1:234`. */
const POSITION = /(?:[^\s("']*\/)?([\w-]+-[\da-f]{8}\.mjs):(\d+):(\d+)/g;

const loaded = new Map<string, SourceMap>();

/** Returns the names of the bundles whose positions are in `text`. */
export function bundlesIn(text: string): string[] {
  return [...text.matchAll(POSITION)].map(([, bundle]) => bundle!);
}

/**
 * Replaces positions in bundles with positions in sources, such as `functions/get-book.ts:5:20`. Positions in bundles
 * without a source map remain.
 *
 * @param folders folders to search for source maps, including their subfolders
 */
export function toSources(text: string, folders: string[]): string {
  return text.replaceAll(POSITION, (position: string, bundle: string, line: string, column: string) => {
    const origin = findSourceMap(bundle, folders)?.findOrigin(Number(line), Number(column));
    if (!origin || !('fileName' in origin)) return position;
    return `${origin.fileName}:${origin.lineNumber}:${origin.columnNumber}`;
  });
}

function findSourceMap(bundle: string, folders: string[]): SourceMap | undefined {
  const known = loaded.get(bundle);
  if (known) return known;

  const [file] = folders.flatMap((folder) =>
    globSync(`**/${bundle}.map`, { cwd: folder }).map((name) => join(folder, name)),
  );
  if (file === undefined) return undefined;

  const map = new SourceMap(JSON.parse(readFileSync(file, 'utf8')));
  loaded.set(bundle, map);
  return map;
}
