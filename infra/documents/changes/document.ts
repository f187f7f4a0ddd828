import { readFileSync } from 'node:fs';
import { parseJson } from '../../../shared/contract/json.ts';
import { UsageError } from '../../operate/command.ts';

type Json = Record<string, unknown>;

/** Returns the document in a file without references. @throws UsageError if it cannot be read, or lacks a target. */
export function readDocument(path: string): object {
  try {
    return withoutReferences(parseJson(readFileSync(path, 'utf8')) as Json);
  } catch (error) {
    const message = error instanceof RangeError ? 'a reference contains itself.' : (error as Error).message;
    throw new UsageError(`${path} is not an OpenAPI document in JSON: ${message}`);
  }
}

/**
 * Returns a copy of the document in which each reference is replaced with its target. A member next to a reference
 * overrides the target's.
 *
 * @throws Error if the target is not in the document; RangeError if it contains the reference.
 */
export function withoutReferences(document: Json): object {
  // These components count only where a reference uses them.
  const components = { ...(document['components'] as Json), schemas: {}, responses: {}, headers: {} };
  return resolve({ ...document, components }, document) as object;
}

function resolve(part: unknown, document: Json): unknown {
  if (Array.isArray(part)) return part.map((item) => resolve(item, document));
  if (typeof part !== 'object' || part === null) return part;
  const { $ref, ...others } = part as { $ref?: string };
  const target = $ref === undefined ? {} : resolve(targetOf($ref, document), document);
  const members = Object.entries(others).map(([name, value]) => [name, resolve(value, document)]);
  // A schema may be true or false.
  return typeof target === 'object' ? { ...target, ...Object.fromEntries(members) } : target;
}

/** Returns the value at a JSON pointer in a URI fragment (RFC 6901). */
function targetOf(reference: string, document: Json): unknown {
  const keys = reference.slice(2).split('/');
  const target = keys.reduce<any>(
    (part, key) => part?.[key.replaceAll('~1', '/').replaceAll('~0', '~')],
    document,
  );
  if (target === undefined) throw new Error(`the target of ${reference} is not in it.`);
  return target;
}
