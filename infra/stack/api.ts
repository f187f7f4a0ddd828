import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as acm from 'aws-cdk-lib/aws-certificatemanager';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as logs from 'aws-cdk-lib/aws-logs';
import * as route53 from 'aws-cdk-lib/aws-route53';
import { Construct } from 'constructs';
import { productName, serviceName } from '../../shared/names.ts';
import { authorizationPattern } from '../../shared/api-keys.ts';
import { methodsByPath } from '../../shared/contract/gateway-errors.ts';
import type { Operation } from '../../shared/contract/operation.ts';
import { type OperationId, operations } from '../../shared/contract/operations.ts';
import {
  activeKeyRequestsMetric,
  addAccessLog,
  rejectedRequestsMetric,
  serverErrorsMetric,
} from './access-log.ts';
import type { Functions } from './functions.ts';
import { addGatewayResponses, addMockResponse } from './gateway-responses.ts';
import { acknowledge } from './roles.ts';
import type { Stage } from '../settings.ts';
import { excess, FIVE_MINUTES, MINUTE, type StageStack } from './stage-stack.ts';

/**
 * Settings that require TLS 1.3, or TLS 1.2 with forward secrecy. With them, API Gateway also requires that the server
 * name in the handshake matches the `Host` header.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-security-policies.html
 */
const tls = {
  securityPolicy: apigateway.SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
  endpointAccessMode: apigateway.EndpointAccessMode.STRICT,
};

/**
 * Adds the REST API of a stage, in which requests that match no operation get an error response. Returns the API's base
 * URL, the ARN of its stage, its access log and its metrics.
 */
export function addApi(stack: StageStack, functions: Functions) {
  const { stage } = stack;
  const { name, domain } = stage;
  const scope = new Construct(stack, 'Api');
  const accessLog = addAccessLog(scope, stage);
  const writes = Object.values<Operation>(operations).filter(({ method }) => method !== 'GET');
  const api = new apigateway.RestApi(scope, 'RestApi', {
    restApiName: serviceName(name),
    description: `${productName}, stage ${name}`,
    endpointTypes: [apigateway.EndpointType.REGIONAL],
    disableExecuteApiEndpoint: domain?.disableDefaultEndpoint ?? false,
    deployOptions: {
      stageName: name,
      throttlingRateLimit: stage.requestsPerSecond,
      throttlingBurstLimit: stage.requestBurst,
      tracingEnabled: stage.tracing,
      loggingLevel: apigateway.MethodLoggingLevel.OFF,
      methodOptions: Object.fromEntries(
        writes.map(({ path, method }) => [
          `${path}/${method}`,
          {
            throttlingRateLimit: stage.createsPerSecond,
            throttlingBurstLimit: stage.createBurst,
            loggingLevel: apigateway.MethodLoggingLevel.OFF,
          },
        ]),
      ),
      ...accessLog.options,
    },
  });
  Object.assign(api.node.defaultChild as apigateway.CfnRestApi, tls);
  const authorizer = new apigateway.TokenAuthorizer(scope, 'Authorizer', {
    handler: functions.authorizer.live,
    validationRegex: authorizationPattern(name),
    resultsCacheTtl: Duration.seconds(stage.authorizerCacheSeconds),
  });

  addRoutes(api, authorizer, functions);
  addGatewayResponses(api);
  // The URL in the CDK's output lacks `/v1`, so the stack outputs the base URL instead.
  api.node.tryRemoveChild('Endpoint');

  if (domain) addDomain(scope, api as apigateway.IRestApi, domain);
  const reasons = {
    APIG2: 'The functions validate requests, so that the Error body can list every invalid field.',
    APIG4: 'Every operation uses the authorizer. All other methods are mocks that return error responses.',
    APIG6: 'The access log records every request. Execution logs are off because they can contain bodies.',
    COG4: 'Clients are programs with API keys, which a Lambda authorizer checks.',
    ...(!stage.firewall && { APIG3: 'The settings of this stage do not include a firewall.' }),
  };
  for (const [rule, reason] of Object.entries(reasons)) acknowledge(api, rule, reason);
  const metrics = apiMetrics(api, name);
  addAlarms(stack, metrics, accessLog.logGroup);
  return {
    baseUrl: domain ? `https://${domain.name}/v1` : api.urlForPath('/v1'),
    stageArn: api.deploymentStage.stageArn,
    accessLog: accessLog.logGroup,
    metrics,
  };
}

export type Api = ReturnType<typeof addApi>;

function addRoutes(api: apigateway.RestApi, authorizer: apigateway.IAuthorizer, functions: Functions): void {
  for (const [operationId, { method, path }] of Object.entries<Operation>(operations)) {
    const { live } = functions[operationId as OperationId];
    const integration = new apigateway.LambdaIntegration(live, { allowTestInvoke: false });
    api.root.resourceForPath(path).addMethod(method, integration, { authorizer });
  }
  for (const [path, methods] of methodsByPath()) addMockResponse(api.root.resourceForPath(path), methods);
  api.root.addResource('{proxy+}');
  // AWS does not document whether `{proxy+}` serves resources without methods, so resources such as `/v1` also have mocks.
  const served = new Set(api.methods.map(({ resource }) => resource));
  for (const resource of api.root.node.findAll()) {
    if (resource instanceof apigateway.ResourceBase && !served.has(resource)) addMockResponse(resource);
  }
}

/** Adds a custom domain. URLs with this domain do not contain the stage's name. */
function addDomain(scope: Construct, api: apigateway.IRestApi, settings: NonNullable<Stage['domain']>): void {
  const { name, certificateArn, hostedZoneId } = settings;
  const validation = () =>
    acm.CertificateValidation.fromDns(route53.HostedZone.fromHostedZoneId(scope, 'Zone', hostedZoneId!));
  const certificate = certificateArn
    ? acm.Certificate.fromCertificateArn(scope, 'Certificate', certificateArn)
    : new acm.Certificate(scope, 'Certificate', { domainName: name, validation: validation() });
  const domain = new apigateway.DomainName(scope, 'Domain', {
    ...tls,
    domainName: name,
    certificate,
    mapping: api,
  });
  const dnsName = domain.domainNameAliasDomainName;
  if (hostedZoneId) {
    const aliasTarget = { dnsName, hostedZoneId: domain.domainNameAliasHostedZoneId };
    new route53.CfnRecordSet(scope, 'DomainRecord', { hostedZoneId, name, type: 'A', aliasTarget });
  } else {
    new CfnOutput(Stack.of(scope), 'DomainTarget', { value: dnsName, description: 'CNAME target' });
  }
}

/** Returns the API's metrics. @param Stage name of the API's stage */
function apiMetrics(api: apigateway.RestApi, Stage: string) {
  const metric = (metricName: string, statistic: string) =>
    api.metric(metricName, {
      dimensionsMap: { ApiName: api.restApiName, Stage },
      statistic,
      period: MINUTE,
    });
  return {
    requests: metric('Count', 'Sum'),
    clientErrors: metric('4XXError', 'Sum'),
    serverErrors: metric('5XXError', 'Sum'),
    latency: (statistic: string) => metric('Latency', statistic),
  };
}

function addAlarms(stack: StageStack, api: Api['metrics'], accessLog: logs.LogGroup): void {
  // A blocking firewall rejects the large bodies that cause 5xx responses, so API Gateway's own metric needs no filter.
  const errors =
    stack.stage.firewall?.action === 'block' ? api.serverErrors : stack.countPerMinute(serverErrorsMetric);
  const activeKeyRequests = stack.countPerMinute(activeKeyRequestsMetric);
  stack.addAlarm('ApiLatency', {
    urgency: 'mail',
    section: 'Slow responses',
    description:
      'Clients wait or time out. In three periods of 5 minutes, at least 1% of responses took 2 seconds or more.',
    metric: api.latency('p99').with({ period: FIVE_MINUTES }),
    threshold: 2_000,
    datapointsToAlarm: 3,
  });
  // This alarm covers stages with few requests, which rarely have five errors in one minute.
  stack.addAlarm('ApiServerErrorShare', {
    urgency: 'wake',
    section: 'Server errors',
    description: 'Clients get 5xx responses. Errors exceeded 1% of requests by at least 2 in 15 minutes.',
    metric: excess(errors.with({ period: Duration.minutes(15) }), 0.01, api.requests),
    threshold: 2,
  });
  stack.addAlarm('ApiServerErrors', {
    urgency: 'wake',
    section: 'Server errors',
    description: 'Clients get 5xx responses. Errors exceeded 0.1% of requests by at least 5 in one minute.',
    metric: excess(errors, 0.001, api.requests),
    threshold: 5,
  });
  stack.addAlarm('ApiRejectedRequests', {
    urgency: 'mail',
    section: 'Rejected requests',
    description:
      'Clients with active API keys get 400, 403, 413, 415 or 422 responses. In 3 of 7 minutes, most of their requests were rejected.',
    // The period is only one minute, because CloudWatch can count the last requests of a longer period late. Until it
    // has counted them, a tolerated share of rejections would look like most requests.
    metric: excess(stack.countPerMinute(rejectedRequestsMetric), 0.5, activeKeyRequests),
    threshold: 5,
    datapointsToAlarm: 3,
  });
  stack.addAlarm('MissingAccessLog', {
    urgency: 'mail',
    section: 'Missing access log',
    description:
      'The access log is incomplete, so alarms that count its lines may not fire. In three periods of 5 minutes, most ' +
      'requests were not logged.',
    metric: new cloudwatch.MathExpression({
      // In arithmetic, CloudWatch treats a metric without data as zero, unless both metrics have no data. The alarm
      // therefore also fires if no request is logged at all.
      expression: 'requests - 2 * logged',
      usingMetrics: {
        requests: api.requests.with({ period: FIVE_MINUTES }),
        // The CDK's `metricIncomingLogEvents` has no dimension, so it would not select this log group.
        logged: new cloudwatch.Metric({
          namespace: 'AWS/Logs',
          metricName: 'IncomingLogEvents',
          dimensionsMap: { LogGroupName: accessLog.logGroupName },
          statistic: cloudwatch.Stats.SUM,
          period: FIVE_MINUTES,
        }),
      },
      label: 'Requests above twice the logged requests',
      period: FIVE_MINUTES,
    }),
    threshold: 3,
    // Log events can arrive in a later period than their requests, so one period does not prove that any are missing.
    datapointsToAlarm: 3,
  });
}
