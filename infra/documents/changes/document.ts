import { readFileSync } from 'node:fs';
import { parseJson } from '../../../shared/contract/json.ts';
import { UsageError } from '../../command.ts';

type Json = Record<string, unknown>;

/** Reads a document and resolves its references. @throws UsageError if the file is invalid. */
export function readDocument(path: string): object {
  try {
    return withoutReferences(parseJson(readFileSync(path, 'utf8')) as Json);
  } catch (error) {
    const message =
      error instanceof RangeError ? 'it contains a circular reference.' : (error as Error).message;
    throw new UsageError(`${path} is not an OpenAPI document in JSON: ${message}`);
  }
}

/**
 * Returns a copy of the document in which each reference is replaced by its target. Members next to a reference override
 * members of the target.
 *
 * @throws Error if a target is missing, or RangeError if references are circular.
 */
export function withoutReferences(document: Json): object {
  // These components are compared wherever they are referenced, so they are not compared again as components.
  const components = { ...(document['components'] as Json), schemas: {}, responses: {}, headers: {} };
  return resolve({ ...document, components }, document) as object;
}

function resolve(part: unknown, document: Json): unknown {
  if (Array.isArray(part)) return part.map((item) => resolve(item, document));
  if (typeof part !== 'object' || part === null) return part;
  const { $ref, ...others } = part as { $ref?: string };
  const target = $ref === undefined ? {} : resolve(targetOf($ref, document), document);
  const members = Object.entries(others).map(([name, value]) => [name, resolve(value, document)]);
  // A target that is a Boolean schema has no members, so the result is the target.
  return typeof target === 'object' ? { ...target, ...Object.fromEntries(members) } : target;
}

function targetOf(reference: string, document: Json): unknown {
  const keys = reference.slice(2).split('/');
  const target = keys.reduce<any>(
    (part, key) => part?.[key.replaceAll('~1', '/').replaceAll('~0', '~')],
    document,
  );
  if (target === undefined) throw new Error(`it does not contain the target of ${reference}.`);
  return target;
}
