import type { Resource, Template } from '../template/template.ts';

export type Method = Resource<'AWS::ApiGateway::Method'>['properties'];

/** The method for a request. Path parameters are percent-encoded, as they were sent. */
export interface Route {
  method: Method;
  /** The resource's path with parameters by name: `/v1/pets/{petId}`. */
  resourcePath: string;
  pathParameters: Record<string, string>;
}

interface Node {
  path: string;
  children: Map<string, Node>;
  methods: Map<string, Method>;
}

export interface Routes {
  all: { httpMethod: string; path: string; method: Method }[];
  find: (httpMethod: string, path: string) => Route | undefined;
}

/**
 * The routes of the template. Resource and method are matched together, a literal segment before `{name}` before
 * `{name+}`, and an exact method before ANY. A trailing slash is ignored; `{name+}` does not match an empty path.
 */
export function readRoutes(template: Template): Routes {
  const root: Node = { path: '', children: new Map(), methods: new Map() };
  const nodes = new Map(
    template.resources('AWS::ApiGateway::RestApi').map(({ logicalId }) => [logicalId, root]),
  );
  const resources = new Map(
    template
      .resources('AWS::ApiGateway::Resource')
      .map(({ logicalId, properties }) => [logicalId, properties]),
  );

  function nodeOf(logicalId: string): Node {
    const placed = nodes.get(logicalId);
    if (placed) return placed;
    const { ParentId, PathPart } = resources.get(logicalId)!;
    const parent = nodeOf(ParentId);
    const node: Node = { path: `${parent.path}/${PathPart}`, children: new Map(), methods: new Map() };
    parent.children.set(PathPart, node);
    nodes.set(logicalId, node);
    return node;
  }

  const all = template.resources('AWS::ApiGateway::Method').map(({ properties: method }) => {
    const node = nodeOf(method.ResourceId);
    node.methods.set(method.HttpMethod, method);
    return { httpMethod: method.HttpMethod, path: node.path, method };
  });

  return {
    all,
    find(httpMethod, path) {
      const trimmed = path.replace(/^\//, '').replace(/\/$/, '');
      return findInNode(root, httpMethod, trimmed === '' ? [] : trimmed.split('/'), {});
    },
  };
}

function findInNode(
  node: Node,
  httpMethod: string,
  [segment, ...rest]: string[],
  pathParameters: Record<string, string>,
): Route | undefined {
  if (segment === undefined) {
    const method = node.methods.get(httpMethod) ?? node.methods.get('ANY');
    return method && { method, resourcePath: node.path || '/', pathParameters };
  }
  const parameters = [...node.children].filter(([part]) => part.startsWith('{'));
  const literal = segment.startsWith('{') ? undefined : node.children.get(segment);
  const found = literal && findInNode(literal, httpMethod, rest, pathParameters);
  if (found) return found;

  for (const [part, child] of parameters.toSorted(([one], [other]) => greediness(one) - greediness(other))) {
    const isGreedy = greediness(part) === 1;
    const value = isGreedy ? [segment, ...rest].join('/') : segment;
    const parameter = { [part.replace(/^\{|\+?\}$/g, '')]: value };
    const route = findInNode(child, httpMethod, isGreedy ? [] : rest, { ...pathParameters, ...parameter });
    if (route) return route;
  }
  return undefined;
}

function greediness(pathPart: string): 0 | 1 {
  return pathPart.endsWith('+}') ? 1 : 0;
}
