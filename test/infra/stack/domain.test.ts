import { describe, expect, test } from '@jest/globals';
import { stages } from '../../../infra/stages.ts';
import { changedTemplate } from '../../support/changed-stack.ts';
import {
  type Resource,
  resourceOf,
  resourcesOf,
  stageNames,
  type StackTemplate,
} from '../../support/stack-template.ts';

const settings = {
  name: 'pets.example.com',
  certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/00000000-0000-0000-0000-000000000000',
  hostedZoneId: 'Z0000000000000000000',
};

const types = ['AWS::ApiGateway::DomainName', 'AWS::ApiGateway::BasePathMapping', 'AWS::Route53::RecordSet'];

describe.each(stageNames)('the domain of %s', (stage) => {
  const withDomain = changedTemplate(stage, { settings: { ...stages[stage], domain: settings } });
  const without = changedTemplate(stage);

  describe('when the stage has one', () => {
    const [[domainId, domain], [, mapping], [, record]] = types.map(
      (type) => resourcesOf(withDomain, type)[0],
    ) as [[string, Resource], [string, Resource], [string, Resource]];

    test.each(types)('is one %s', (type) => {
      expect(resourcesOf(withDomain, type)).toHaveLength(1);
    });

    test('has the certificate, in the region of the stack', () => {
      expect(domain.Properties).toMatchObject({
        DomainName: settings.name,
        RegionalCertificateArn: settings.certificateArn,
        EndpointConfiguration: { Types: ['REGIONAL'] },
      });
    });

    test('takes TLS 1.2 with forward secrecy or 1.3, under its own name', () => {
      expect(domain.Properties).toMatchObject({
        SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
        EndpointAccessMode: 'STRICT',
      });
    });

    test('serves the stage from its root on', () => {
      const [apiId] = resourceOf(withDomain, 'AWS::ApiGateway::RestApi', 'ApiRestApi');
      const [stageId] = resourcesOf(withDomain, 'AWS::ApiGateway::Stage')[0]!;
      // No base path, which would come before /v1.
      expect(mapping.Properties).toEqual({
        DomainName: { Ref: domainId },
        RestApiId: { Ref: apiId },
        Stage: { Ref: stageId },
      });
    });

    test('is found by its name', () => {
      expect(record.Properties).toEqual({
        HostedZoneId: settings.hostedZoneId,
        Name: settings.name,
        Type: 'A',
        AliasTarget: {
          DNSName: { 'Fn::GetAtt': [domainId, 'RegionalDomainName'] },
          HostedZoneId: { 'Fn::GetAtt': [domainId, 'RegionalHostedZoneId'] },
        },
      });
    });

    test('is the only address of the interface', () => {
      expect(apiOf(withDomain)['DisableExecuteApiEndpoint']).toBe(true);
      expect(withDomain.Outputs['BaseAddress']?.Value).toBe('https://pets.example.com/v1');
    });

    // API Gateway turns the default address off with the next deployment only.
    test('comes with a new deployment of the API', () => {
      const [[before], [after]] = [without, withDomain].map(
        (template) => resourcesOf(template, 'AWS::ApiGateway::Deployment')[0]!,
      ) as [[string, Resource], [string, Resource]];
      expect(after).not.toBe(before);
    });
  });

  describe('when the stage has none', () => {
    test.each(types)('is no %s', (type) => {
      expect(resourcesOf(without, type)).toEqual([]);
    });

    test('leaves the default address on', () => {
      expect(apiOf(without)['DisableExecuteApiEndpoint']).toBe(false);
    });
  });
});

function apiOf(template: StackTemplate): Record<string, any> {
  return resourceOf(template, 'AWS::ApiGateway::RestApi', 'ApiRestApi')[1].Properties;
}
