import { Duration, Validations } from 'aws-cdk-lib';
import {
  AuthorizationType,
  type CfnRestApi,
  EndpointType,
  type IRestApi,
  LambdaIntegration,
  MethodLoggingLevel,
  ResourceBase,
  RestApi,
  TokenAuthorizer,
} from 'aws-cdk-lib/aws-apigateway';
import { type Alarm, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { serviceName } from '../../shared/names.ts';
import { authorizationPattern } from '../../shared/contract/authorization.ts';
import { allowedMethodsMessage, methodsByPath } from '../../shared/contract/gateway-responses.ts';
import { type Operation, type OperationId, operations } from '../../shared/contract/operations.ts';
import { accessLog, serverErrorsMetric } from './access-log.ts';
import { serveUnderDomain, tls } from './domain.ts';
import type { PetStoreFunctions, StageWithFunctions } from './functions.ts';
import { addGatewayResponses } from './gateway-responses.ts';
import { addMockResponse } from './mock-responses.ts';
import { apiMetrics, countedPerMinute, FIVE_MINUTES, MINUTE } from './metrics.ts';
import type { Monitoring } from './monitoring.ts';
import type { StageSettings } from '../settings.ts';

/** The REST API of a stage: a route for each operation, and an error response for everything else. */
export class Api extends Construct {
  readonly baseUrl: string;
  readonly stageArn: string;
  /** Rings on more 5xx of ours than happen by chance. Deployments roll back on it. */
  readonly serverErrors: Alarm;

  constructor(scope: Construct, id: string, { stage, settings, functions, monitoring }: StageWithFunctions) {
    super(scope, id);

    const { domain } = settings;
    const api = new RestApi(this, 'RestApi', {
      restApiName: serviceName(stage),
      description: `Pet store, stage ${stage}`,
      endpointTypes: [EndpointType.REGIONAL],
      disableExecuteApiEndpoint: domain !== undefined,
      deployOptions: {
        stageName: stage,
        throttlingRateLimit: settings.requestsPerSecond,
        throttlingBurstLimit: settings.requestBurst,
        tracingEnabled: true,
        loggingLevel: MethodLoggingLevel.OFF,
        ...accessLog(this, stage, settings),
      },
      // The role is one per account and region: a stack that sets it takes it away from the others when it goes.
      cloudWatchRole: false,
    });
    Object.assign(api.node.defaultChild as CfnRestApi, tls);
    const authorizer = new TokenAuthorizer(this, 'Authorizer', {
      handler: functions.authorizer.live,
      validationRegex: authorizationPattern(stage),
      resultsCacheTtl: Duration.seconds(settings.authorizerCacheSeconds),
    });

    addRoutes(api, authorizer, functions);
    addGatewayResponses(api);
    // The output that the construct adds: the stack gives the base URL, with its version, instead.
    api.node.tryRemoveChild('Endpoint');

    if (domain) serveUnderDomain(this, api as IRestApi, domain);
    this.baseUrl = domain ? `https://${domain.name}/v1` : api.urlForPath('/v1');
    this.stageArn = api.deploymentStage.stageArn;
    this.serverErrors = addAlarms(stage, settings, monitoring);
    acknowledgeFindings(api, settings);
  }
}

function addRoutes(api: RestApi, authorizer: TokenAuthorizer, functions: PetStoreFunctions): void {
  for (const [operationId, { method, path }] of Object.entries<Operation>(operations)) {
    const { live } = functions[operationId as OperationId];
    api.root
      .resourceForPath(path)
      .addMethod(method, new LambdaIntegration(live, { allowTestInvoke: false }), {
        authorizer,
        authorizationType: AuthorizationType.CUSTOM,
      });
  }
  for (const [path, methods] of methodsByPath()) {
    addMockResponse(api.root.resourceForPath(path), 'method_not_allowed', {
      message: allowedMethodsMessage(methods),
      headers: { Allow: methods.join(', ') },
    });
  }
  api.root.addResource('{proxy+}');
  // `/v1` too, of which AWS's documentation does not say whether `{proxy+}` would serve it.
  const served = new Set(api.methods.map(({ resource }) => resource));
  for (const resource of api.root.node.findAll()) {
    if (resource instanceof ResourceBase && !served.has(resource)) addMockResponse(resource, 'not_found');
  }
}

function addAlarms(stage: string, { firewall }: StageSettings, monitoring: Monitoring): Alarm {
  const api = apiMetrics(stage);
  // API Gateway's own count does not depend on the access log.
  const errors = firewall ? api.serverErrors : countedPerMinute(stage, serverErrorsMetric);
  monitoring.addAlarm('ApiLatency', {
    chapter: 'Slow responses',
    meaning: 'For fifteen minutes, one answer in a hundred took more than two seconds.',
    metric: api.latency('p99').with({ period: FIVE_MINUTES }),
    threshold: 2_000,
    datapointsToAlarm: 3,
  });
  return monitoring.addAlarm('ApiServerErrors', {
    chapter: 'Server errors',
    meaning: 'At least five responses more than one in a thousand in a minute were a 5xx of our fault.',
    metric: new MathExpression({
      // Math takes a missing value for zero. Without IF, a few errors would fire it until the requests are counted.
      expression: 'IF(requests, errors - requests / 1000)',
      usingMetrics: { errors, requests: api.requests },
      label: '5xx beyond one in a thousand',
      period: MINUTE,
    }),
    threshold: 5,
  });
}

function acknowledgeFindings(api: RestApi, { firewall }: StageSettings): void {
  const reasons = {
    APIG2: 'The functions validate requests, and name each field that is wrong in the Error body.',
    APIG4: 'Mocks refuse what is no operation, with or without a key; every operation has the authorizer.',
    APIG6:
      'The access log has every request; execution logs could hold headers and bodies, so they stay off.',
    COG4: 'Clients are programs with API keys, for which there is an authorizer of its own.',
    ...(!firewall && { APIG3: 'A web ACL is worth its price where clients are served, not in this stage.' }),
  };
  for (const [rule, reason] of Object.entries(reasons))
    Validations.of(api).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
}
