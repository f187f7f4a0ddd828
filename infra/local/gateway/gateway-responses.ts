import type { HttpResponse } from './http-message.ts';
import { staticResponse } from './integrations.ts';
import { UsageError } from '../../operate/command.ts';
import type { Template } from '../template/template.ts';

const RESPONSE_TYPES = [
  'ACCESS_DENIED',
  'AUTHORIZER_CONFIGURATION_ERROR',
  'DEFAULT_4XX',
  'DEFAULT_5XX',
  'MISSING_AUTHENTICATION_TOKEN',
  'REQUEST_TOO_LARGE',
  'UNAUTHORIZED',
  'UNSUPPORTED_MEDIA_TYPE',
] as const;
export type ResponseType = (typeof RESPONSE_TYPES)[number];

export function readGatewayResponses(template: Template): Record<ResponseType, HttpResponse> {
  const defined = template.resources('AWS::ApiGateway::GatewayResponse').map(({ properties }) => properties);
  const entries = RESPONSE_TYPES.map((type) => {
    const response = defined.find(({ ResponseType }) => ResponseType === type);
    if (!response) throw new UsageError(`The template has no gateway response of the type ${type}.`);
    return [type, staticResponse(response)];
  });
  return Object.fromEntries(entries) as Record<ResponseType, HttpResponse>;
}
