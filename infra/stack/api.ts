import { Duration, Validations } from 'aws-cdk-lib';
import {
  AuthorizationType,
  type CfnRestApi,
  EndpointType,
  type IRestApi,
  LambdaIntegration,
  MethodLoggingLevel,
  RestApi,
  TokenAuthorizer,
} from 'aws-cdk-lib/aws-apigateway';
import { Construct } from 'constructs';
import { serviceName } from '../../shared/names.ts';
import { authorizationPattern } from '../../shared/contract/authorization.ts';
import { type Operation, operations } from '../../shared/contract/operations.ts';
import { accessLog } from './access-log.ts';
import { serveUnderDomain, tls } from './domain.ts';
import type { OperationId, PetStoreFunctions } from './functions.ts';
import { addGatewayResponses } from './gateway-responses.ts';
import { refuse } from './refusals.ts';
import type { StageSettings } from '../settings.ts';

interface ApiProps {
  stage: string;
  settings: StageSettings;
  functions: PetStoreFunctions;
}

/** The REST API of a stage: a route for each operation, and a refusal for everything else. */
export class Api extends Construct {
  readonly baseAddress: string;
  readonly stageArn: string;

  constructor(scope: Construct, id: string, { stage, settings, functions }: ApiProps) {
    super(scope, id);

    const { domainName, certificateArn, hostedZoneId } = settings;
    const api = new RestApi(this, 'RestApi', {
      restApiName: serviceName(stage),
      description: `Pet store, stage ${stage}`,
      endpointTypes: [EndpointType.REGIONAL],
      disableExecuteApiEndpoint: domainName !== undefined,
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

    const methodsByPath = new Map<string, string[]>();
    for (const [operationId, { method, path }] of Object.entries<Operation>(operations)) {
      const integration = new LambdaIntegration(functions[operationId as OperationId].live, {
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
        { Allow: methods.join(', ') },
      );
    }
    for (const resource of [api.root, api.root.addResource('{proxy+}')]) {
      refuse(resource, 'not_found', 'There is nothing at this address.');
    }
    addGatewayResponses(api);
    // The output that the construct adds: the stack gives the base address, with its version, instead.
    api.node.tryRemoveChild('Endpoint');

    if (domainName && certificateArn && hostedZoneId) {
      serveUnderDomain(this, api as IRestApi, { domainName, certificateArn, hostedZoneId });
    }
    this.baseAddress = domainName ? `https://${domainName}/v1` : api.urlForPath('/v1');
    this.stageArn = api.deploymentStage.stageArn;
    acknowledgeFindings(api, settings);
  }
}

function acknowledgeFindings(api: RestApi, { firewall }: StageSettings): void {
  Validations.of(api).acknowledge(
    {
      id: 'AwsSolutions::AwsSolutions-APIG2',
      reason: 'The functions validate requests, and name each field that is wrong in the Error body.',
    },
    {
      id: 'AwsSolutions::AwsSolutions-APIG4',
      reason: 'Mocks refuse what is no operation, with or without a key; every operation has the authorizer.',
    },
    {
      id: 'AwsSolutions::AwsSolutions-COG4',
      reason: 'Clients are programs with API keys, for which there is an authorizer of its own.',
    },
    {
      id: 'AwsSolutions::AwsSolutions-APIG6',
      reason:
        'The access log has every request; execution logs could hold headers and bodies, so they stay off.',
    },
  );
  if (firewall) return;
  Validations.of(api).acknowledge({
    id: 'AwsSolutions::AwsSolutions-APIG3',
    reason: 'A web ACL is worth its price where clients are served, not in this stage.',
  });
}
