import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { accountId, region } from '../../infra/local/emulator/template/intrinsics.ts';
import { stackName } from '../../shared/names.ts';
import { listenOnLoopback } from '../support/loopback.ts';

interface AwsRequest {
  /** IAM action that the request needs, such as `cloudformation:DescribeStacks`. */
  action: string;
  accessKeyId: string;
  stack: string;
  stackArn: string;
}

export interface AwsBehavior {
  /** Outputs of the staging stack. If undefined, the stack does not exist. */
  outputs?: Record<string, string> | undefined;
  /** ARN of the operator, which GetCallerIdentity returns. */
  caller?: string;
  /** Milliseconds by which AWS's clock is ahead of the local clock. */
  clockOffset?: number;
  /** Returns the error response to a request, or undefined if the operator may send the request. */
  reject?: (request: AwsRequest) => { status: number; code: string; message: string } | undefined;
}

/**
 * Starts a server that implements CloudFormation's DescribeStacks and STS's GetCallerIdentity in the query protocol.
 * Requests to DynamoDB always get an error in the JSON protocol.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
 *
 * @param behavior settings of the server, which tests can change between requests
 */
export async function startFakeAws(behavior: AwsBehavior) {
  const server = createServer(async (request, response) => {
    const read = await readRequest(request);
    const result = behavior.reject?.(read) ?? resultOf(read, behavior);
    response.setHeader('Date', new Date(Date.now() + (behavior.clockOffset ?? 0)).toUTCString());
    if (typeof result === 'string') return response.end(result);
    const { status, code, message } = result;
    const json = JSON.stringify({ __type: `com.amazon.coral.service#${code}`, message });
    const xml = `<ErrorResponse><Error><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;
    return response.writeHead(status).end(read.action.startsWith('dynamodb:') ? json : xml);
  });
  const { origin, close } = await listenOnLoopback(server);
  const credentials = { AWS_ACCESS_KEY_ID: 'operator', AWS_SECRET_ACCESS_KEY: 'secret' };
  return { environment: { AWS_ENDPOINT_URL: origin, AWS_REGION: region, ...credentials }, close };
}

async function readRequest(request: IncomingMessage): Promise<AwsRequest> {
  const { authorization = '', 'x-amz-target': target } = request.headers;
  // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
  const [, accessKeyId = '', service = ''] =
    /Credential=([^/]+)\/[^/]+\/[^/]+\/([^/]+)\//.exec(authorization) ?? [];
  const form = new URLSearchParams(await text(request));
  const stack = form.get('StackName') ?? '';
  const stackArn = `arn:aws:cloudformation:${region}:${accountId}:stack/${stack}/00000000-0000-4000-8000-000000000000`;
  const action = `${service}:${form.get('Action') ?? String(target).split('.')[1]}`;
  return { action, accessKeyId, stack, stackArn };
}

function resultOf({ action, stack }: AwsRequest, { outputs, caller }: AwsBehavior) {
  if (action === 'sts:GetCallerIdentity') return resultXml('GetCallerIdentity', `<Arn>${caller}</Arn>`);
  if (stack !== stackName('staging') || !outputs)
    return { status: 400, code: 'ValidationError', message: `Stack ${stack} does not exist` };
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const xml = `<Stacks><member><Outputs>${members.join('')}</Outputs></member></Stacks>`;
  return resultXml('DescribeStacks', xml);
}

function resultXml(action: string, xml: string): string {
  return `<${action}Response><${action}Result>${xml}</${action}Result></${action}Response>`;
}
