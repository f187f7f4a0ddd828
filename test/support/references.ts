/**
 * Returns a copy of the document in which each reference is replaced with its target. Of the components, the copy
 * contains only the security schemes.
 *
 * @throws TypeError if a reference has no target
 */
export function withoutReferences(document: any): any {
  const { securitySchemes } = document.components;
  return resolve({ ...document, components: { securitySchemes } });

  function resolve(part: any): any {
    if (typeof part !== 'object' || part === null) return part;
    if (Array.isArray(part)) return part.map(resolve);
    const target = part.$ref ? targetOf(part.$ref) : part;
    return Object.fromEntries(Object.entries(target).map(([name, member]) => [name, resolve(member)]));
  }

  /** Returns the part of the document to which a reference such as `#/components/schemas/Book` refers. */
  function targetOf(reference: string): any {
    const [, ...keys] = reference.split('/');
    return keys.reduce((parent, key) => parent[key], document);
  }
}
