import { region } from '../../infra/local/template/template.ts';
import { getPetEvent, listPetsEvent, postPetEvent, REQUEST_ID } from '../support/api-gateway-event.ts';

// Events as API Gateway makes them of requests by curl to a regional REST API.

const DOMAIN_PREFIX = 'abc123';
const DOMAIN_NAME = `${DOMAIN_PREFIX}.execute-api.${region}.amazonaws.com`;
const ACCOUNT = '123456789012';
const SOURCE_IP = '203.0.113.7';
const USER_AGENT = 'curl/8.14.1';

/** The events that the functions are called with, by function. */
export function eventsFor(apiKey: string) {
  const headers = {
    Accept: '*/*',
    Authorization: `Bearer ${apiKey}`,
    Host: DOMAIN_NAME,
    'User-Agent': USER_AGENT,
    'X-Amzn-Trace-Id': 'Root=1-5759e988-bd862e3fe1be46a994272793',
    'X-Forwarded-For': SOURCE_IP,
    'X-Forwarded-Port': '443',
    'X-Forwarded-Proto': 'https',
  };
  const listPets = listPetsEvent(
    { limit: ['20'] },
    { headers, requestContext: contextOf('GET', '/v1/pets') },
  );
  const createPet = postPetEvent(
    { name: 'Rex', categoryId: 7, status: 'available' },
    {
      headers: { ...headers, 'Content-Type': 'application/json' },
      requestContext: contextOf('POST', '/v1/pets'),
    },
  );
  const petId = '244813135872000';
  const getPet = getPetEvent(petId, {
    resource: '/v1/pets/{petId}',
    headers,
    requestContext: contextOf('GET', '/v1/pets/{petId}', `/v1/pets/${petId}`),
  });
  const authorizer = {
    type: 'TOKEN',
    authorizationToken: `Bearer ${apiKey}`,
    methodArn: `arn:aws:execute-api:${region}:${ACCOUNT}:${DOMAIN_PREFIX}/staging/GET/v1/pets`,
  };
  return { listPets, createPet, getPet, authorizer };
}

function contextOf(httpMethod: string, resourcePath: string, path = resourcePath) {
  const nobody = {
    cognitoIdentityPoolId: null,
    cognitoIdentityId: null,
    principalOrgId: null,
    cognitoAuthenticationType: null,
    userArn: null,
    accountId: null,
    caller: null,
    accessKey: null,
    cognitoAuthenticationProvider: null,
    user: null,
  };
  return {
    resourceId: 'x7k2mq',
    authorizer: { keyId: 'key_01JD8Z2V5W', principalId: 'key_01JD8Z2V5W', integrationLatency: 12 },
    resourcePath,
    httpMethod,
    extendedRequestId: 'VoKa4HYKoAMEZsA=',
    requestTime: '21/Nov/2026:06:31:47 +0000',
    path: `/staging${path}`,
    accountId: ACCOUNT,
    protocol: 'HTTP/1.1',
    stage: 'staging',
    domainPrefix: DOMAIN_PREFIX,
    requestTimeEpoch: 1_795_242_707_000,
    requestId: REQUEST_ID,
    identity: { ...nobody, sourceIp: SOURCE_IP, userAgent: USER_AGENT },
    domainName: DOMAIN_NAME,
    deploymentId: 'r4t9pz',
    apiId: DOMAIN_PREFIX,
  } as never;
}
