import type { HttpResponse } from '../../infra/local/gateway/http-message.ts';
import { staticResponse } from '../../infra/local/gateway/integrations.ts';
import type { Template } from '../../infra/local/template/template.ts';
import { resourcesOf, stackTemplate } from './stack-template.ts';

// Responses that only AWS has occasion to give, as the templates have them.

const requestId = 'd1ae6f8c-8b54-4ecd-a3f0-1d9fdc9a4d0e';

export function gatewayResponseOf(template: Template, responseType: string): HttpResponse {
  const { properties } = template
    .resources('AWS::ApiGateway::GatewayResponse')
    .find(({ properties: { ResponseType } }) => ResponseType === responseType)!;
  const { status, headers, body } = staticResponse(properties);
  return {
    status,
    headers: { ...headers, 'x-amzn-RequestId': requestId },
    body: body.replaceAll('$context.requestId', requestId),
  };
}

/** The response of production's firewall where the rule for keys blocks a request. */
export function firewallResponse(): HttpResponse {
  const [[, { Properties }]] = resourcesOf(stackTemplate('production'), 'AWS::WAFv2::WebACL') as any;
  const rule = Properties.Rules.find(({ Name }: { Name: string }) => Name === 'PerKey');
  const { ResponseCode, CustomResponseBodyKey, ResponseHeaders } = rule.Action.Block.CustomResponse;
  const { ContentType, Content } = Properties.CustomResponseBodies[CustomResponseBodyKey];
  if (ContentType !== 'APPLICATION_JSON') throw new Error(`The firewall sends ${ContentType}.`);
  const headers = ResponseHeaders.map(({ Name, Value }: Record<string, string>) => [Name, Value]);
  return {
    status: ResponseCode,
    headers: { 'Content-Type': 'application/json', ...Object.fromEntries(headers) },
    body: Content,
  };
}
