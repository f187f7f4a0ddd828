import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as acm from 'aws-cdk-lib/aws-certificatemanager';
import * as route53 from 'aws-cdk-lib/aws-route53';
import type { Construct } from 'constructs';
import type { Stage } from '../settings.ts';

/**
 * Requires TLS 1.3, or TLS 1.2 with forward secrecy. The server name in the handshake must match the `Host` header.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-security-policies.html
 */
export const tls = {
  securityPolicy: apigateway.SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
  endpointAccessMode: apigateway.EndpointAccessMode.STRICT,
};

/** Adds a custom domain. URLs with this domain do not contain the stage's name. */
export function addDomain(
  scope: Construct,
  api: apigateway.IRestApi,
  { name, certificateArn, hostedZoneId }: NonNullable<Stage['domain']>,
): void {
  const domain = new apigateway.DomainName(scope, 'Domain', {
    ...tls,
    domainName: name,
    certificate: acm.Certificate.fromCertificateArn(scope, 'Certificate', certificateArn),
    mapping: api,
  });
  new route53.CfnRecordSet(scope, 'DomainRecord', {
    hostedZoneId,
    name,
    type: 'A',
    aliasTarget: {
      dnsName: domain.domainNameAliasDomainName,
      hostedZoneId: domain.domainNameAliasHostedZoneId,
    },
  });
}
