import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { plain, runCommand, UsageError } from './command.ts';
import { describeDifferences } from './openapi-diff-output.ts';
import { differences, withoutReferences } from './openapi-diff-rules.ts';

// `npm run openapi:diff`: what openapi.json changes for clients of the released interface. Fails where it breaks them.

const USAGE = `npm run openapi:diff -- [--base FILE]

  --base  the OpenAPI document that clients have (default: docs/openapi-released.json, which npm run openapi -- --release
          writes)

Lists how openapi.json differs from it, what breaks clients first, and fails if anything does.`;

const RELEASED = 'docs/openapi-released.json';
const projectRoot = new URL('..', import.meta.url);

async function openapiDiff(): Promise<void> {
  const { values } = parseArgs({
    options: { base: { type: 'string' }, help: { type: 'boolean', default: false } },
  });
  if (values.help) return console.log(USAGE);

  const base = values.base ?? RELEASED;
  const before =
    values.base === undefined
      ? await readDocument(RELEASED, 'write it by npm run openapi -- --release', projectPath(RELEASED))
      : await readDocument(base, 'name an OpenAPI 3.1 document after --base');
  const after = await readDocument(
    'openapi.json',
    'write it by npm run openapi',
    projectPath('openapi.json'),
  );

  const changes = differences(before, after);
  for (const line of describeDifferences(changes, before)) console.log(plain(line));
  const breaking = changes.filter(({ type }) => type === 'breaking').length;
  if (breaking > 0) {
    throw new UsageError(
      `${count(breaking, 'change')} of openapi.json against ${base} would break clients: take back what breaks them, or offer it as ` +
        'a new version at an address of its own; only once every client can take it, release it by npm run openapi -- --release.',
    );
  }
  console.log(
    changes.length > 0
      ? `Nothing breaks clients: ${count(changes.length, 'change')} against ${base}.`
      : `openapi.json says the same as ${base}.`,
  );
}

function projectPath(file: string): string {
  return fileURLToPath(new URL(file, projectRoot));
}

/** Text of the document without references. */
async function readDocument(name: string, advice: string, path = name): Promise<string> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${name} cannot be read (${(error as NodeJS.ErrnoException).code}); ${advice}.`);
  }
  try {
    const version = String((JSON.parse(text) as { openapi?: unknown } | null)?.openapi);
    if (!version.startsWith('3.1.')) throw new Error('openapi is no version 3.1');
    return await withoutReferences(text);
  } catch (error) {
    const reason = (error as Error).message.replace(/\.$/, '');
    throw new UsageError(`${name} is not an OpenAPI 3.1 document in JSON (${reason}); ${advice}.`);
  }
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

await runCommand(openapiDiff);
