import type { Resource, Template } from '../template/template.ts';

export type Method = Resource<'AWS::ApiGateway::Method'>['properties'];

/** The method for a request. Path parameters are percent-encoded, as they were sent. */
export interface Route {
  method: Method;
  /** The resource's path with parameters by name: `/v1/pets/{petId}`. */
  resourcePath: string;
  pathParameters: Record<string, string>;
}

/**
 * Finds routes of the template. Resource and method are matched together, a literal segment before `{name}` before
 * `{name+}`, and an exact method before ANY. A trailing slash is ignored; `{name+}` does not match an empty path.
 */
export function readRoutes(template: Template): (httpMethod: string, path: string) => Route | undefined {
  const resources = new Map(
    template
      .resources('AWS::ApiGateway::Resource')
      .map(({ logicalId, properties }) => [logicalId, properties]),
  );
  function pathOf(resourceId: string): string {
    const resource = resources.get(resourceId);
    return resource ? `${pathOf(resource.ParentId)}/${resource.PathPart}` : ''; // of the API's root
  }

  const inOrder = template
    .resources('AWS::ApiGateway::Method')
    .map(({ properties: method }) => {
      const path = pathOf(method.ResourceId);
      return { path, method, ...matcherOf(path, method.HttpMethod) };
    })
    .toSorted((one, other) => (one.rank < other.rank ? -1 : 1));
  return (httpMethod, path) => {
    const trimmed = path.replaceAll(/^\/|\/$/g, '');
    const asked = trimmed && `/${trimmed}`;
    for (const { pattern, names, method, path: resourcePath } of inOrder) {
      const isTaken = method.HttpMethod === httpMethod || method.HttpMethod === 'ANY';
      const values = isTaken ? pattern.exec(asked) : undefined;
      if (!values) continue;
      const parameters = names.map((name, index) => [name, values[index + 1]]);
      return {
        method,
        resourcePath: resourcePath || '/',
        pathParameters: Object.fromEntries(parameters),
      };
    }
    return undefined;
  };
}

/** A pattern of the paths of a resource, the names of its groups, and what orders routes by how exact they are. */
function matcherOf(path: string, httpMethod: string) {
  const segments = path.split('/').slice(1);
  const names = segments.filter((part) => part.startsWith('{')).map((part) => part.replaceAll(/[{}+]/g, ''));
  const kinds = segments.map((part) => (part.endsWith('+}') ? 2 : part.startsWith('{') ? 1 : 0));
  const source = segments.map((part, index) => `/${[RegExp.escape(part), '([^/]*)', '(.+)'][kinds[index]!]}`);
  return {
    names,
    pattern: new RegExp(`^${source.join('')}$`),
    rank: `${kinds.join('')} ${httpMethod === 'ANY' ? 1 : 0}`,
  };
}
