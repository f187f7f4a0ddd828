import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { pathOption, projectRoot, relativePaths, runWithOptions, UsageError } from '../command.ts';
import { bundlesIn, sourceMapsFolder, toSources } from '../source-maps.ts';

const defaultMaps = join(projectRoot, 'cdk.out', sourceMapsFolder);

const USAGE = `npm run trace -- [--maps DIR] < LOG

Prints log lines of deployed functions. Stack traces in the output contain files and lines of the source code.

  --maps  folder with the source maps of one or more builds (default: ${relative(projectRoot, defaultMaps)})

${relativePaths}`;

await runWithOptions(USAGE, { maps: { type: 'string', default: defaultMaps } }, async (values) => {
  const maps = pathOption('--maps', values.maps);
  if (!existsSync(maps))
    throw new UsageError(`The folder ${maps} does not exist. Choose a folder with --maps.`);
  if (process.stdin.isTTY) console.error('Paste log lines. To end, press Enter and Ctrl-D.');
  const log = withoutColors(await text(process.stdin));
  if (bundlesIn(log).size === 0)
    throw new UsageError('Standard input contains no stack trace of a function. Pass more log lines.');
  const traced = toSources(log, [maps]);
  // In JSON logs, a stack trace is either a string with escaped line breaks or an array of lines.
  // The lookbehind limits the matches to complete runs of backslashes. Otherwise, a long run would take quadratic time.
  const lines = traced.replaceAll(/(?:(?<!\\)\\+n|",\s*")(?= +at )/g, '\n').trimEnd();
  // The output must be written before an error is thrown, because the process then exits without waiting for a slow
  // reader.
  await new Promise((written) => process.stdout.write(`${lines}\n`, written));
  const [unknown] = bundlesIn(traced);
  if (unknown)
    throw new UsageError(
      `${maps} contains no source map of ${unknown}. A different build created this bundle. To get the source maps of that build, follow "Find the line" in docs/runbook.md.`,
    );
});

/** Removes escape sequences, such as the colors of the AWS CLI. */
function withoutColors(log: string): string {
  const [start = '', ...sequences] = log.split('\u001B');
  // Strips each sequence separately, because `stripVTControlCharacters` takes quadratic time for a text with many
  // sequences that have no end.
  return start + sequences.map((sequence) => stripVTControlCharacters(`\u001B${sequence}`)).join('');
}
