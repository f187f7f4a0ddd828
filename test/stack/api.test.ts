import { describe, expect, test } from '@jest/globals';
import type { Operation } from '../../shared/contract/operation.ts';
import { operations } from '../../shared/contract/operations.ts';
import { propertiesOf, readable, readableTemplate } from '../support/stack-template.ts';
import { domain, stages } from '../support/stages.ts';
import { variantTemplate } from './variants.ts';

// The HTTP tests cover routes, authentication and responses. The tests in this file cover properties that local HTTP
// tests cannot check.
const template = readableTemplate('production');
const { ApiRestApi, ApiAuthorizer } = template.Resources;
const everySetting = readable(await variantTemplate('everySetting'));
const { Resources: inDrill, Outputs: outputsOfDrill } = readable(await variantTemplate('drill'));

describe('the REST API', () => {
  // With forward secrecy, attackers who record requests cannot decrypt the API keys in these requests later.
  test('requires TLS with forward secrecy, and a server name that matches the Host header', () => {
    expect(ApiRestApi.Properties).toMatchObject({
      SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
      EndpointAccessMode: 'STRICT',
    });
  });

  test('has one stage, which logs no bodies and applies the configured limits to all methods', () => {
    const { requestsPerSecond, requestBurst, createsPerSecond, createBurst } = stages.production;
    const [{ MethodSettings }, ...others] = propertiesOf(template, 'AWS::ApiGateway::Stage');
    expect(others).toEqual([]);
    const logging = { LoggingLevel: 'OFF', DataTraceEnabled: false };
    const all = { ThrottlingRateLimit: requestsPerSecond, ThrottlingBurstLimit: requestBurst };
    // Writes have limits of their own, because an index key limits them. `~1` stands for a slash in a path.
    const limits = { ThrottlingRateLimit: createsPerSecond, ThrottlingBurstLimit: createBurst };
    const writes = Object.values<Operation>(operations).filter(({ method }) => method !== 'GET');
    expect(MethodSettings).toEqual([
      { ResourcePath: '/*', HttpMethod: '*', ...all, ...logging },
      ...writes.map(({ path, method }) => ({
        ResourcePath: `/${path.replaceAll('/', '~1')}`,
        HttpMethod: method,
        ...limits,
        ...logging,
      })),
    ]);
  });

  // A deployment fails if a mock sets a header that its method does not declare.
  test('declares every header of its mock responses', () => {
    const methods = propertiesOf(template, 'AWS::ApiGateway::Method');
    const mocks = methods.filter(({ Integration }) => Integration.Type === 'MOCK');
    expect(mocks).not.toEqual([]);
    for (const { MethodResponses, Integration } of mocks) {
      const [{ StatusCode, ResponseParameters }] = Integration.IntegrationResponses;
      const declared = Object.keys(ResponseParameters).map((name) => [name, true]);
      expect(MethodResponses).toEqual([{ StatusCode, ResponseParameters: Object.fromEntries(declared) }]);
    }
  });
});

describe('the authorizer', () => {
  // cdk-nag does not find a method without it, because the finding is acknowledged for the mocks.
  test('checks the API key of every request that reaches a function', () => {
    const methods = propertiesOf(template, 'AWS::ApiGateway::Method')
      .filter(({ Integration }) => Integration.Type !== 'MOCK')
      .map(({ HttpMethod, ResourceId, AuthorizationType, AuthorizerId }) => [
        `${HttpMethod} ${pathOf(ResourceId)}`,
        `${AuthorizationType} ${AuthorizerId}`,
      ]);
    const withKey = Object.values<Operation>(operations).map(({ method, path }) => [
      `${method} ${path}`,
      'CUSTOM ${ApiAuthorizer}',
    ]);
    expect(Object.fromEntries(methods)).toEqual(Object.fromEntries(withKey));
  });

  // API Gateway returns a 401 without calling the authorizer if the header does not match the expression. AWS does not
  // document its dialect of regular expressions, so the expression must use only syntax that all common dialects share: no
  // groups with a question mark, named or negated classes, word boundaries and named references.
  test('has an expression that accepts only headers with a key of this stage', () => {
    const { IdentityValidationExpression: expression } = ApiAuthorizer.Properties;
    expect(expression).not.toMatch(/\(\?|\\[pPkbB]|\[\^/);
    const key = `pets_production_${'0aZ'.repeat(12)}`;
    const accepted = [`Bearer ${key}`, `bearer  ${key}`, `BEARER ${key}`];
    const rejected = [
      '',
      key,
      `Bearer${key}`,
      `Basic ${key}`,
      `Bearer ${key}0`,
      `Bearer ${key.slice(1)}`,
      `Bearer ${key}, Bearer ${key}`,
      `Bearer ${key.replace('production', 'elsewhere')}`,
    ];
    const matching = [...accepted, ...rejected].filter((header) => new RegExp(expression).test(header));
    expect(matching).toEqual(accepted);
  });

  test('is cached for the configured time', () => {
    expect(ApiAuthorizer.Properties.AuthorizerResultTtlInSeconds).toBe(
      stages.production.authorizerCacheSeconds,
    );
  });
});

describe('a custom domain', () => {
  test('maps to the stage and requires TLS with forward secrecy', () => {
    const { ApiDomain, ApiDomainRecord } = everySetting.Resources;
    const { SecurityPolicy, EndpointAccessMode } = ApiRestApi.Properties;
    expect(ApiDomain.Properties).toMatchObject({
      DomainName: domain.name,
      SecurityPolicy,
      EndpointAccessMode,
    });
    // The mapping must have no base path, because a base path would precede /v1 in URLs.
    expect(propertiesOf(everySetting, 'AWS::ApiGateway::BasePathMapping')).toEqual([
      {
        DomainName: '${ApiDomain}',
        RestApiId: '${ApiRestApi}',
        Stage: '${ApiRestApiDeploymentStageproduction}',
      },
    ]);
    const AliasTarget = expect.objectContaining({ DNSName: '${ApiDomain.RegionalDomainName}' });
    expect(ApiDomainRecord.Properties).toMatchObject({ Name: domain.name, AliasTarget });
  });

  test('gets a certificate from the stack if the settings contain a hosted zone but no certificate', () => {
    const { ApiCertificate, ApiDomain } = everySetting.Resources;
    const { name: DomainName, hostedZoneId: HostedZoneId } = domain;
    const DomainValidationOptions = [{ DomainName, HostedZoneId }];
    expect(ApiCertificate.Properties).toMatchObject({ DomainName, DomainValidationOptions });
    expect(ApiDomain.Properties.RegionalCertificateArn).toBe('${ApiCertificate}');
  });

  test('has a stack output with the DNS target instead of a DNS record if there is no hosted zone', () => {
    expect(inDrill.ApiDomain.Properties.RegionalCertificateArn).toBe(domain.certificateArn);
    expect(inDrill).not.toHaveProperty('ApiDomainRecord');
    expect(outputsOfDrill.DomainTarget.Value).toBe('${ApiDomain.RegionalDomainName}');
  });

  test('can disable the default endpoint', () => {
    const isDisabled = [everySetting.Resources, inDrill].map(
      (resources) => resources.ApiRestApi.Properties.DisableExecuteApiEndpoint,
    );
    expect(isDisabled).toEqual([false, true]);
  });
});

/** Returns the path of a resource of the API, such as `/v1/pets`, for a reference such as `${ApiRestApiv1pets}`. */
function pathOf(reference: string): string {
  const { ParentId, PathPart } = template.Resources[reference.slice(2, -1)]?.Properties ?? {};
  return PathPart === undefined ? '' : `${pathOf(ParentId)}/${PathPart}`;
}
