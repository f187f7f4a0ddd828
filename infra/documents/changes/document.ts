import { readFileSync } from 'node:fs';
import { UsageError } from '../../operate/command.ts';

type Json = Record<string, unknown>;

/**
 * Text of the document in a file, without references.
 *
 * @param name how the operator knows the file
 * @param advice what to do when it is no document, such as `write it by npm run openapi`
 * @throws UsageError when the file cannot be read, or is no OpenAPI 3.1 document in JSON.
 */
export function readDocument(name: string, advice: string, path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${name} cannot be read (${(error as NodeJS.ErrnoException).code}); ${advice}.`);
  }
  try {
    const version = String((JSON.parse(text) as { openapi?: unknown } | null)?.openapi);
    if (!version.startsWith('3.1.')) throw new Error('openapi is no version 3.1');
    return withoutReferences(text);
  } catch (error) {
    const reason = (error as Error).message.replace(/\.$/, '');
    throw new UsageError(`${name} is not an OpenAPI 3.1 document in JSON (${reason}); ${advice}.`);
  }
}

/**
 * Text of the document with every reference replaced by what it points to, in extensions too: what a reference leads to
 * would be judged as part of a request, wherever it stands. Of the components only the security schemes are left, which
 * are named. What stands beside a reference goes before what it points to.
 *
 * @param text of an OpenAPI 3.1 document in JSON
 * @throws Error when a reference leads nowhere, out of the document, or to what it is a part of.
 */
export function withoutReferences(text: string): string {
  const document = JSON.parse(text) as Json & { components?: Json };
  const { components, ...rest } = document;
  const { securitySchemes = {} } = components ?? {};
  return JSON.stringify(resolve({ ...rest, components: { securitySchemes } }, document, []));
}

/** @param within the references that have led here */
function resolve(part: unknown, document: Json, within: string[]): unknown {
  if (Array.isArray(part)) return part.map((item) => resolve(item, document, within));
  if (typeof part !== 'object' || part === null) return part;
  const { $ref, ...own } = part as Json;
  if (typeof $ref !== 'string') return resolveMembers(part as Json, document, within);
  if (within.includes($ref)) throw new Error(`the reference ${$ref} leads to what it is a part of`);
  const target = resolve(targetOf($ref, document), document, [...within, $ref]);
  // A schema may be true or false.
  if (typeof target !== 'object') return target;
  return { ...target, ...resolveMembers(own, document, within) };
}

function resolveMembers(members: Json, document: Json, within: string[]): Json {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, resolve(value, document, within)]),
  );
}

/** What is at a JSON pointer in a fragment (RFC 6901). */
function targetOf(reference: string, document: Json): unknown {
  if (!reference.startsWith('#')) throw new Error(`the reference ${reference} leads out of it`);
  const keys = decodeURIComponent(reference.slice(1))
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  let target: unknown = document;
  for (const key of keys) {
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, key)) {
      throw new Error(`the reference ${reference} leads nowhere`);
    }
    target = (target as Json)[key];
  }
  return target;
}
