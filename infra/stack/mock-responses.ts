import {
  AuthorizationType,
  type IResource,
  MockIntegration,
  PassthroughBehavior,
} from 'aws-cdk-lib/aws-apigateway';
import { errorBody, type ErrorCode } from '../../shared/contract/errors.ts';

/** Media types of requests that mocks respond to; API Gateway responds 415 to any other. */
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

/** Responds with an error to every method that the resource has no route for, without a function or a key. */
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
