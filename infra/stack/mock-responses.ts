import {
  AuthorizationType,
  type IResource,
  MockIntegration,
  PassthroughBehavior,
} from 'aws-cdk-lib/aws-apigateway';
import { errorBody, type ErrorCode } from '../../shared/contract/errors.ts';

/** Media types that mocks accept. API Gateway returns a 415 for all other media types. */
const COMMON_MEDIA_TYPES = [
  'application/json',
  'application/merge-patch+json',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
  'application/xml',
  'multipart/form-data',
  'text/html',
  'text/plain',
  'text/xml',
];

/** Adds an error response for every method without a route. Clients need no API key to get this response. */
export function addMockResponse(
  resource: IResource,
  code: ErrorCode,
  { message, headers = {} }: { message?: string; headers?: Record<string, string> } = {},
): void {
  const body = errorBody(code, message);
  const statusCode = body.status.toString();
  const mapping = Object.entries({ 'Cache-Control': 'no-store', ...headers }).map(
    ([name, value]) => [`method.response.header.${name}`, `'${value}'`] as const,
  );

  resource.addMethod(
    'ANY',
    new MockIntegration({
      passthroughBehavior: PassthroughBehavior.NEVER,
      requestTemplates: Object.fromEntries(
        COMMON_MEDIA_TYPES.map((type) => [type, JSON.stringify({ statusCode: body.status })]),
      ),
      integrationResponses: [
        {
          statusCode,
          responseParameters: Object.fromEntries(mapping),
          responseTemplates: { 'application/json': JSON.stringify(body) },
        },
      ],
    }),
    {
      authorizationType: AuthorizationType.NONE,
      methodResponses: [
        {
          statusCode,
          responseParameters: Object.fromEntries(mapping.map(([name]) => [name, true])),
        },
      ],
    },
  );
}
