import { Duration } from 'aws-cdk-lib';
import {
  AuthorizationType,
  EndpointType,
  type IResource,
  LambdaIntegration,
  MockIntegration,
  PassthroughBehavior,
  RestApi,
  TokenAuthorizer,
} from 'aws-cdk-lib/aws-apigateway';
import { Construct } from 'constructs';
import {
  authorizationPattern,
  errorBody,
  type ErrorCode,
  type Operation,
  operations,
} from '../shared/operations.ts';
import type { OperationId, PetStoreFunctions } from './functions.ts';
import { addGatewayResponses } from './gateway-responses.ts';
import type { StageSettings } from './stages.ts';

/** Media types under which a refusal by a mock answers as meant; any other is told 415 by API Gateway. */
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

interface ApiProps {
  stage: string;
  settings: StageSettings;
  functions: PetStoreFunctions;
}

/** The REST API of a stage: a route for each operation, and a refusal for everything else. */
export class Api extends Construct {
  readonly baseAddress: string;

  constructor(scope: Construct, id: string, { stage, settings, functions }: ApiProps) {
    super(scope, id);

    const api = new RestApi(this, 'RestApi', {
      restApiName: `pet-store-${stage}`,
      description: `Pet store, stage ${stage}`,
      endpointTypes: [EndpointType.REGIONAL],
      deployOptions: { stageName: stage },
      // The role is one per account and region: a stack that sets it takes it away from the others when it goes.
      cloudWatchRole: false,
    });
    const authorizer = new TokenAuthorizer(this, 'Authorizer', {
      handler: functions.authorizer,
      validationRegex: authorizationPattern(stage),
      resultsCacheTtl: Duration.seconds(settings.authorizerCacheSeconds),
    });

    const methodsByPath = new Map<string, string[]>();
    for (const [operationId, { method, path }] of Object.entries<Operation>(operations)) {
      const integration = new LambdaIntegration(functions[operationId as OperationId], {
        allowTestInvoke: false,
      });
      api.root
        .resourceForPath(path)
        .addMethod(method, integration, { authorizer, authorizationType: AuthorizationType.CUSTOM });
      methodsByPath.set(path, [...(methodsByPath.get(path) ?? []), method]);
    }

    for (const [path, methods] of methodsByPath) {
      refuse(
        api.root.resourceForPath(path),
        'method_not_allowed',
        `This address takes ${methods.join(' and ')}.`,
        {
          Allow: methods.join(', '),
        },
      );
    }
    for (const resource of [api.root, api.root.addResource('{proxy+}')]) {
      refuse(resource, 'not_found', 'There is nothing at this address.');
    }
    addGatewayResponses(api);
    // The output that the construct adds: the stack gives the base address, with its version, instead.
    api.node.tryRemoveChild('Endpoint');
    this.baseAddress = api.urlForPath('/v1');
  }
}

/** Answers every method that the resource has no route for with an Error body, without a function or a key. */
function refuse(
  resource: IResource,
  code: ErrorCode,
  message: string,
  headers: Record<string, string> = {},
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
