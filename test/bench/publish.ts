import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { withParts } from '../../infra/documents/document-parts.ts';
import { UsageError } from '../../infra/operate/command.ts';
import { hasTools } from '../support/tools.ts';
import { linePlot, type LinePlot, withoutStyleNames } from './plot.ts';

/** What a command generates. */
export interface Report {
  /** The npm script. */
  script: string;
  /** Parts of documents by name, see `withParts`. */
  documents: Record<string, Record<string, string>>;
  /** Images by file. Without test/tools they stay as they are. */
  plots: Record<string, LinePlot>;
}

/**
 * Writes a report.
 *
 * @param check whether to compare it with the files instead.
 * @throws UsageError if the document lacks a part, or a compared file differs.
 */
export function publish({ script, documents, plots }: Report, check: boolean): void {
  const files = Object.entries(documents).map(([name, parts]) => ({
    name,
    content: withParts(name, readFile(name), parts),
  }));
  if (hasTools()) {
    files.push(...Object.entries(plots).map(([name, plot]) => ({ name, content: linePlot(plot) })));
  } else {
    console.error(`Without the packages of test/tools, no images are ${check ? 'compared' : 'written'}.`);
  }
  const stale = files.filter(
    ({ name, content }) => withoutStyleNames(content) !== withoutStyleNames(readFile(name)),
  );
  if (!check) {
    for (const { name, content } of stale) writeFileSync(fileOf(name), content);
  } else if (stale.length > 0) {
    const names = stale.map(({ name }) => name).join(', ');
    throw new UsageError(`${names} must be generated again: run npm run ${script} -- --report.`);
  }
}

function fileOf(name: string): URL {
  return new URL(`../../${name}`, import.meta.url);
}

function readFile(name: string): string {
  return existsSync(fileOf(name)) ? readFileSync(fileOf(name), 'utf8') : '';
}
