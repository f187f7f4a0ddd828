import type { Pair } from './http-message.ts';
import type { Resource, Template } from '../template/template.ts';

export type Method = Resource<'AWS::ApiGateway::Method'>['properties'];

/** Method and path parameters for a request. The parameters remain percent-encoded. */
export interface Route {
  method: Method;
  /** The resource's path with parameter names, such as `/v1/things/{thingId}`. */
  resourcePath: string;
  pathParameters: Pair[];
}

/**
 * Returns a function that finds the route for a request. Resources without the method are skipped. A literal segment
 * takes precedence over `{name}`, `{name}` over `{name+}`, and an exact method over ANY. A trailing slash is ignored.
 */
export function readRoutes(template: Template): (httpMethod: string, path: string) => Route | undefined {
  const resources = template.resources('AWS::ApiGateway::Resource');
  function pathOf(resourceId: string): string {
    const { properties } = resources.find(({ logicalId }) => logicalId === resourceId) ?? {};
    return properties ? `${pathOf(properties.ParentId)}/${properties.PathPart}` : ''; // the API's root
  }

  const routes = template
    .resources('AWS::ApiGateway::Method')
    .map(({ properties: method }) => ({ method, ...matcherOf(pathOf(method.ResourceId), method.HttpMethod) }))
    .toSorted((one, other) => (one.rank < other.rank ? -1 : 1));
  return (httpMethod, path) => {
    for (const { method, resourcePath, names, pattern } of routes) {
      const values = pattern.exec(`${httpMethod} ${path.replace(/\/$/, '')}`)?.slice(1);
      const pathParameters = values?.map((value, index): Pair => [names[index]!, value]);
      if (pathParameters) return { method, resourcePath, pathParameters };
    }
    return undefined;
  };
}

/** Returns a pattern for a request's method and path, the parameters' names, and a rank that sorts routes. */
function matcherOf(path: string, httpMethod: string) {
  const source = RegExp.escape(path).replaceAll(/\\\{.*?\\\}/g, (parameter) =>
    parameter.includes('+') ? '(.+)' : '([^/]*)',
  );
  const rank = path.replaceAll(/\{.*?\}/g, (parameter) => (parameter.includes('+') ? '\uFFFF' : '\uFFFE'));
  return {
    resourcePath: path || '/',
    names: [...path.matchAll(/\{([^}+]+)/g)].map(([, name]) => name!),
    pattern: new RegExp(`^${httpMethod === 'ANY' ? String.raw`\S+` : httpMethod} ${source}$`),
    rank: `${rank} ${httpMethod === 'ANY' ? 2 : 1}`,
  };
}
