// Changes of a JSON document, as JSON Patch has them (RFC 6902). One that does not apply, or changes nothing, throws.

/** A change of a document in place. */
export type Change = (document: object) => void;

type Container = Record<string, unknown> | unknown[];

/** Removes what is at the JSON pointer (RFC 6901). */
export function remove(pointer: string): Change {
  return (document) => {
    const [container, key] = find(document, pointer);
    if (!(key in container)) throw new Error(`There is nothing at ${pointer}.`);
    if (Array.isArray(container)) container.splice(Number(key), 1);
    else delete container[key];
  };
}

/** Adds a member that is not there, or an item in front of the one at the index; `-` is the end of a list. */
export function add(pointer: string, value: unknown): Change {
  return (document) => {
    const [container, key] = find(document, pointer);
    if (Array.isArray(container)) {
      container.splice(key === '-' ? container.length : Number(key), 0, value);
      return;
    }
    if (key in container) throw new Error(`There is something at ${pointer}.`);
    container[key] = value;
  };
}

/** Puts another value in the place of one. */
export function replace(pointer: string, value: unknown): Change {
  return (document) => {
    const [container, key] = find(document, pointer);
    const members = container as Record<string, unknown>;
    if (!(key in members)) throw new Error(`There is nothing at ${pointer}.`);
    if (JSON.stringify(members[key]) === JSON.stringify(value)) {
      throw new Error(`${pointer} has this value already.`);
    }
    members[key] = value;
  };
}

/** Moves what is at one pointer to another. */
export function move(from: string, to: string): Change {
  return (document) => {
    const [container, key] = find(document, from);
    const value = (container as Record<string, unknown>)[key];
    remove(from)(document);
    add(to, value)(document);
  };
}

function find(document: object, pointer: string): [container: Container, key: string] {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = keys.pop()!;
  let container: unknown = document;
  for (const key of keys) container = (container as Record<string, unknown> | undefined)?.[key];
  if (typeof container !== 'object' || container === null) throw new Error(`There is no place ${pointer}.`);
  return [container as Container, last];
}
