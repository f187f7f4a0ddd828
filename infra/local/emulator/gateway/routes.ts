import type { Resource, Template } from '../template/template.ts';

export type Method = Resource<'AWS::ApiGateway::Method'>['properties'];

/** Method and path parameters for a request. The parameters remain percent-encoded. */
export interface Route {
  method: Method;
  /** The resource's path with parameter names, such as `/v1/pets/{petId}`. */
  resourcePath: string;
  pathParameters: Record<string, string>;
}

/**
 * Returns a function that finds the route for a request. Resources without the method are skipped. A literal segment
 * takes precedence over `{name}`, `{name}` over `{name+}`, and an exact method over ANY. A trailing slash is ignored.
 */
export function readRoutes(template: Template): (httpMethod: string, path: string) => Route | undefined {
  const resources = new Map(
    template
      .resources('AWS::ApiGateway::Resource')
      .map(({ logicalId, properties }) => [logicalId, properties]),
  );
  function pathOf(resourceId: string): string {
    const resource = resources.get(resourceId);
    return resource ? `${pathOf(resource.ParentId)}/${resource.PathPart}` : ''; // the API's root
  }

  const sorted = template
    .resources('AWS::ApiGateway::Method')
    .map(({ properties: method }) => {
      const path = pathOf(method.ResourceId);
      return { path, method, ...matcherOf(path, method.HttpMethod) };
    })
    .toSorted((one, other) => (one.rank < other.rank ? -1 : 1));
  return (httpMethod, path) => {
    const trimmed = path.replaceAll(/^\/|\/$/g, '');
    const normalized = trimmed && `/${trimmed}`;
    for (const { pattern, names, method, path: resourcePath } of sorted) {
      const hasMethod = method.HttpMethod === httpMethod || method.HttpMethod === 'ANY';
      const values = hasMethod ? pattern.exec(normalized) : undefined;
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

/** Returns a pattern for the resource's paths, its parameter names, and a rank that sorts specific routes first. */
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
