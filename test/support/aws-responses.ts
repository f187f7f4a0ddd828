import type { HttpResponse } from '../../infra/local/emulator/gateway/http-message.ts';
import { resourcesOf, stackTemplate } from './stack-template.ts';

/** Returns the production firewall's response to a request that the given rule blocks. */
export function firewallResponse(ruleName: 'PerKey' | 'LargeBody'): HttpResponse {
  const [[, { Properties }]] = resourcesOf(stackTemplate('production'), 'AWS::WAFv2::WebACL') as any;
  const rule = Properties.Rules.find(({ Name }: { Name: string }) => Name === ruleName);
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
