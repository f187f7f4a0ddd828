import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { UsageError } from '../../infra/operate/command.ts';
import { hasTools } from '../support/tools.ts';
import { linePlot, type LinePlot, withoutStyleNames } from './plot.ts';

/** What a command generates in `docs/`. */
export interface Report {
  /** The npm script. */
  script: string;
  document: string;
  /** Texts between marks of the document, by name. */
  parts: Record<string, string>;
  /** Images, by file. Without test/tools they stay as they are. */
  plots: Record<string, LinePlot>;
}

/**
 * Writes a report.
 *
 * @param check whether to compare it with the files instead.
 * @throws UsageError if the document lacks a part, or a compared file differs.
 */
export function publish({ script, document, parts, plots }: Report, check: boolean): void {
  const command = `npm run ${script} -- --report`;
  const files = [{ name: document, content: fill(document, command, parts) }];
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
    const names = stale.map(({ name }) => `docs/${name}`);
    throw new UsageError(`Stale: ${names.join(', ')}. Run ${command}.`);
  }
}

function fill(document: string, command: string, parts: Record<string, string>): string {
  return Object.entries(parts).reduce((text, [name, part]) => {
    const mark = `<!-- ${name}, computed: ${command} -->\n`;
    const [before, after] = text.split(mark);
    if (after === undefined) throw new UsageError(`docs/${document} lacks ${mark.trim()}.`);
    return `${before}${mark}${part}${after.slice(after.indexOf('<!-- end -->'))}`;
  }, readFile(document));
}

function fileOf(name: string): URL {
  return new URL(`../../docs/${name}`, import.meta.url);
}

function readFile(name: string): string {
  return existsSync(fileOf(name)) ? readFileSync(fileOf(name), 'utf8') : '';
}
