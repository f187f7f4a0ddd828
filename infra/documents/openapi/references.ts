/**
 * Returns a copy of the document in which the target of each reference replaces the reference.
 *
 * @throws TypeError if the document does not contain a target.
 */
export function withoutReferences(document: any): any {
  const { securitySchemes } = document.components;
  return resolve({ ...document, components: { securitySchemes } });

  function resolve(part: any): any {
    if (typeof part !== 'object' || part === null) return part;
    if (Array.isArray(part)) return part.map(resolve);
    const keys: string[] | undefined = part.$ref?.split('/').slice(1);
    const target = keys ? keys.reduce((parent, key) => parent[key], document) : part;
    return Object.fromEntries(Object.entries(target).map(([name, member]) => [name, resolve(member)]));
  }
}
