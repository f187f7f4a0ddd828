import type { Pair } from './http-message.ts';
import type { Resource, Template } from '../template/template.ts';

export type Method = Resource<'AWS::ApiGateway::Method'>['properties'];

/** The method that responds to a request, with the parameters in the request's path. */
export interface Route {
  method: Method;
  /** Path with the names of parameters, such as `/v1/books/{bookId}`. */
  resourcePath: string;
  /** Values in the request's path, which remain percent-encoded. */
  pathParameters: Pair[];
}

/** Method of a resource, with the segments of the resource's path. The first segment is empty. */
interface Candidate {
  method: Method;
  segments: string[];
}

/**
 * Returns a function that finds the route for a request. Resources that have neither the request's method nor ANY are
 * skipped. Segment by segment, a literal takes precedence over `{name}`, and `{name}` over `{name+}`. On the same path,
 * an exact method takes precedence over ANY. A trailing slash is ignored.
 */
export function readRoutes(template: Template): (httpMethod: string, path: string) => Route | undefined {
  const resources = template.resources('AWS::ApiGateway::Resource');
  function segmentsOf(resourceId: string): string[] {
    const resource = resources.find(({ logicalId }) => logicalId === resourceId);
    if (!resource) return ['']; // the API's root
    return [...segmentsOf(resource.properties.ParentId), resource.properties.PathPart];
  }

  const candidates = template
    .resources('AWS::ApiGateway::Method')
    .map(({ properties: method }): Candidate => ({ method, segments: segmentsOf(method.ResourceId) }));

  return (httpMethod, path) => {
    const pathSegments = path.replace(/\/$/, '').split('/');
    const [first] = candidates
      .filter(({ method }) => method.HttpMethod === httpMethod || isAny(method))
      .filter(({ segments }) => matches(segments, pathSegments))
      .toSorted(byPrecedence);
    if (!first) return undefined;
    return {
      method: first.method,
      resourcePath: first.segments.join('/') || '/',
      pathParameters: parametersOf(first.segments, pathSegments),
    };
  };
}

function matches(segments: string[], pathSegments: string[]): boolean {
  if (isGreedy(segments.at(-1)!)) {
    const parents = segments.slice(0, -1);
    const value = pathSegments.slice(parents.length).join('/');
    return value !== '' && matches(parents, pathSegments.slice(0, parents.length));
  }
  return (
    segments.length === pathSegments.length &&
    segments.every((segment, index) => isParameter(segment) || segment === pathSegments[index])
  );
}

function parametersOf(segments: string[], pathSegments: string[]): Pair[] {
  return segments.flatMap((segment, index): Pair[] => {
    if (isGreedy(segment)) return [[segment.slice(1, -2), pathSegments.slice(index).join('/')]];
    return isParameter(segment) ? [[segment.slice(1, -1), pathSegments[index]!]] : [];
  });
}

/** Compares two routes that match the same path. The route that takes precedence comes first. */
function byPrecedence(one: Candidate, other: Candidate): number {
  for (const [index, segment] of one.segments.entries()) {
    const difference = rank(segment) - rank(other.segments[index]!);
    if (difference !== 0) return difference;
  }
  return Number(isAny(one.method)) - Number(isAny(other.method));
}

/** Returns the rank of a segment. Lower ranks take precedence. */
function rank(segment: string): number {
  if (isGreedy(segment)) return 2;
  return isParameter(segment) ? 1 : 0;
}

/** Returns whether the segment is a parameter such as `{bookId}` or `{proxy+}`. */
function isParameter(segment: string): boolean {
  return segment.startsWith('{');
}

/** Returns whether the segment is a parameter such as `{proxy+}`, which matches the rest of the path. */
function isGreedy(segment: string): boolean {
  return segment.endsWith('+}');
}

function isAny({ HttpMethod }: Method): boolean {
  return HttpMethod === 'ANY';
}
