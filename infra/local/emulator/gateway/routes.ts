import type { Pair } from './http-message.ts';
import type { Resource, Template } from '../template/template.ts';

export type Method = Resource<'AWS::ApiGateway::Method'>['properties'];

export type Route = NonNullable<ReturnType<ReturnType<typeof readRoutes>>>;

/**
 * Returns a function that finds the route for a request. Resources without the request's method are skipped. A
 * literal segment takes precedence over `{name}`, `{name}` over `{name+}`, and an exact method over ANY. A trailing
 * slash is ignored. The values of path parameters remain percent-encoded.
 */
export function readRoutes(template: Template) {
  const resources = template.resources('AWS::ApiGateway::Resource');
  function pathOf(resourceId: string): string {
    const { properties } = resources.find(({ logicalId }) => logicalId === resourceId) ?? {};
    return properties ? `${pathOf(properties.ParentId)}/${properties.PathPart}` : ''; // the API's root
  }

  const routes = template
    .resources('AWS::ApiGateway::Method')
    .map(({ properties: method }) => {
      const path = pathOf(method.ResourceId);
      const source = RegExp.escape(path).replaceAll(/\\\{.*?\\\}/g, (parameter) =>
        parameter.includes('+') ? '(.+)' : '([^/]*)',
      );
      return {
        method,
        resourcePath: path || '/',
        names: [...path.matchAll(/\{([^}+]+)/g)].map(([, name]) => name!),
        pattern: new RegExp(`^${source} ${method.HttpMethod === 'ANY' ? '.+' : method.HttpMethod}$`),
      };
    })
    // In descending order, literals precede `([^/]*)`, `([^/]*)` precedes `(.+)`, and methods precede `.+`.
    .toSorted((one, other) => (one.pattern.source > other.pattern.source ? -1 : 1));
  return (httpMethod: string, path: string) => {
    for (const { names, pattern, ...route } of routes) {
      const values = pattern.exec(`${path.replace(/\/$/, '')} ${httpMethod}`)?.slice(1);
      if (values) return { ...route, pathParameters: values.map((value, i): Pair => [names[i]!, value]) };
    }
    return undefined;
  };
}
