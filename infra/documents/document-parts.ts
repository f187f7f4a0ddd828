import { UsageError } from '../operate/command.ts';

/**
 * Returns a document with new generated parts between the markers `<!-- generated: NAME -->` and `<!-- end -->`.
 *
 * @throws UsageError if a marker is missing.
 */
export function withParts(file: string, text: string, parts: Record<string, string>): string {
  return Object.entries(parts).reduce((document, [name, part]) => {
    const mark = `<!-- generated: ${name} -->`;
    const [before, after] = document.split(mark);
    const end = after?.indexOf('<!-- end -->') ?? -1;
    if (end < 0) throw new UsageError(`${file} lacks the markers ${mark} and <!-- end -->. Add them.`);
    // Tables and lists are on separate lines. Figures are part of a sentence.
    const lineBreak = part.endsWith('\n') ? '\n' : '';
    return `${before}${mark}${lineBreak}${part}${after!.slice(end)}`;
  }, text);
}
