import { UsageError } from '../operate/command.ts';

/**
 * Returns a document with its generated parts, each between the marks `<!-- generated: NAME -->` and `<!-- end -->`.
 *
 * @throws UsageError if the document lacks the marks of a part.
 */
export function withParts(file: string, text: string, parts: Record<string, string>): string {
  return Object.entries(parts).reduce((document, [name, part]) => {
    const mark = `<!-- generated: ${name} -->`;
    const [before, after] = document.split(mark);
    const end = after?.indexOf('<!-- end -->') ?? -1;
    if (end < 0) throw new UsageError(`${file} lacks the marks ${mark} and <!-- end -->.`);
    // A table has lines of its own, a figure is part of a sentence.
    const lineBreak = part.endsWith('\n') ? '\n' : '';
    return `${before}${mark}${lineBreak}${part}${after!.slice(end)}`;
  }, text);
}
