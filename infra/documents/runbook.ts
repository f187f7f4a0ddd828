import { readFileSync } from 'node:fs';
import { UsageError } from '../command.ts';
import { markdownTable } from './markdown.ts';

const RUNBOOK = 'docs/runbook.md';

interface Command {
  /** Title of the table that contains the command. */
  group: string;
  /** Name and arguments, such as `find_trace TRACE_ID`. */
  synopsis: string;
  purpose: string;
  output: string;
}

/** Returns the generated part of the runbook: an index of the commands in the files that the runbook's blocks source. */
export function runbookParts(): Record<string, Record<string, string>> {
  const sourced = readFileSync(RUNBOOK, 'utf8').matchAll(/^ *\. (docs\/runbook\/\w+\.sh)$/gm);
  const files = new Set(Array.from(sourced, ([, file]) => file!));
  const commands = [...files].flatMap((file) => commandsIn(file, readFileSync(file, 'utf8')));
  const tables = Map.groupBy(commands, ({ group }) => group)
    .entries()
    .map(([group, members]) => {
      const rows = members.map(({ synopsis, purpose, output }) => [`\`${synopsis}\``, purpose, output]);
      return markdownTable([group, 'What it does', 'What it prints'], rows, '---');
    });
  return { [RUNBOOK]: { commands: [...tables].join('\n') } };
}

/**
 * Returns the commands of a shell script. A line such as `## Tables` starts a group of commands. The comment above a
 * function describes it, and its first sentence is the purpose:
 *
 *     # indexes TABLE: finds a table's indexes.
 *     # Output: a name per line.
 *
 * A function that only runs a query needs no output in its comment, because the query names the fields that it prints.
 *
 * @throws UsageError if a function has no group, purpose or output
 */
function commandsIn(file: string, text: string): Command[] {
  const functions = text.matchAll(/(?<comment>(?:^# .*\n)*)^(?<name>\w+)\(\) (?<body>\{.*\}$|\{[^]*?^\})/gm);
  return Array.from(functions, ({ index, groups }) => {
    const { comment, name, body } = groups as Record<'comment' | 'name' | 'body', string>;
    const [group] =
      text
        .slice(0, index)
        .match(/(?<=^## ).+$/gm)
        ?.slice(-1) ?? [];
    const [description, output = fieldsOf(body)] = comment.replaceAll(/^# /gm, '').split(/^Output: /m);
    const parts = new RegExp(`^(${name}(?: [^:]+)?): (.+?)\\.(?: |$)`).exec(oneLine(description!));
    if (group === undefined || !parts || !output)
      throw new UsageError(
        `${file}: In a comment above ${name}, describe what it does and prints, as for the other functions.`,
      );
    const [, synopsis, purpose] = parts as unknown as [string, string, string];
    return {
      group,
      synopsis,
      purpose: capitalized(purpose),
      output: capitalized(oneLine(output).replace(/\.$/, '')),
    };
  });
}

/**
 * Returns the names of the fields that the results of a query have, such as `status` and `requests`.
 *
 * @param query text of a Logs Insights query
 */
export function fieldNamesOf(query: string): string[] {
  const [, aggregates, groups = ''] = /\bstats ([^|]+?)(?:\bby\b([^|]+))?(?:\||$)/.exec(query) ?? [];
  // In results, the fields by which the query groups come before the aggregates.
  if (aggregates !== undefined) return [...namesIn(groups), ...namesIn(aggregates)];
  return namesIn(/\bfields ([^|]+)/.exec(query)?.[1] ?? '');
}

/** Returns the names in a list of expressions, such as `count(*) as requests, pct(latency, 99) as p99`. */
function namesIn(list: string): string[] {
  const expressions = list.split(/,(?![^(]*\))/).map(oneLine);
  return expressions.filter((one) => one !== '').map((one) => / as (\w+)$/.exec(one)?.[1] ?? one);
}

/** Returns what a function prints if it only runs a query, and otherwise an empty string. */
function fieldsOf(body: string): string {
  const [, query] = /\b(?:access|function|firewall)_log '([^]+)'/.exec(body) ?? [];
  return fieldNamesOf(query ?? '')
    .map((field) => `\`${field}\``)
    .join(', ');
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
