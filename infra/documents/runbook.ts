import { readFileSync } from 'node:fs';
import { UsageError } from '../command.ts';
import { markdownTable } from './markdown.ts';

const RUNBOOK = 'docs/runbook.md';

/** Returns the generated part of the runbook: a table of the commands in the files that the runbook's blocks source. */
export function runbookParts(): Record<string, Record<string, string>> {
  const sourced = readFileSync(RUNBOOK, 'utf8').matchAll(/^ *\. (docs\/runbook\/\w+\.sh)$/gm);
  const files = new Set(Array.from(sourced, ([, file]) => file!));
  const rows = [...files].flatMap((file) => commandsIn(file, readFileSync(file, 'utf8')));
  return { [RUNBOOK]: { commands: markdownTable(['Command', 'What it does'], rows, '---') } };
}

/**
 * Returns the commands of a shell script with the first sentence of their descriptions. A function's description is the
 * comment above it, such as `# find_trace TRACE_ID: prints the lines that contain a trace id.`
 *
 * @throws UsageError if a function has no description
 */
function commandsIn(file: string, text: string): string[][] {
  const functions = text.matchAll(/(?<comment>(?:^# .*\n)*)^(?<name>\w+)\(\) \{/gm);
  return Array.from(functions, ({ groups }) => {
    const name = groups!['name']!;
    const comment = groups!['comment']!.replaceAll(/^# /gm, '').replaceAll('\n', ' ');
    const [, synopsis, sentence] = new RegExp(`^(${name}(?: [^:]+)?): (.+?)\\.(?: |$)`).exec(comment) ?? [];
    if (synopsis === undefined)
      throw new UsageError(
        `${file}: Describe ${name} in a comment above it, such as "# ${name} ID: prints a request.".`,
      );
    return [`\`${synopsis}\``, `${sentence!.charAt(0).toUpperCase()}${sentence!.slice(1)}`];
  });
}
