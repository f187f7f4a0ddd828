import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { accountId, region } from '../../../infra/local/template/template.ts';
import { listenOnLoopback } from '../../support/loopback.ts';

interface AwsError {
  status: number;
  code: string;
  message: string;
}

interface AwsRequest {
  /** As in a policy, `cloudformation:DescribeStacks`. */
  action: string;
  accessKeyId: string;
  /** Name of the stack, or empty. */
  stack: string;
  /** ARN of the stack, or `*`. */
  resource: string;
}

export interface AwsBehavior {
  /** Outputs of the stacks, by name. */
  stacks?: Record<string, Record<string, string>>;
  /** ARN that STS returns. */
  caller?: string;
  /** Milliseconds by which its clock is ahead of this machine's. */
  clockOffset?: number;
  /** Returns the error with which it rejects a request. It also rejects what it does not know. */
  reject?: (request: AwsRequest) => AwsError | undefined;
}

export type FakeAws = Awaited<ReturnType<typeof startFakeAws>>;

/**
 * Starts what implements DescribeStacks of CloudFormation and GetCallerIdentity of STS, in the query protocol, and rejects
 * calls to DynamoDB in the JSON protocol.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
 *
 * @param behavior may change between requests.
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
  /** `environment` is for that of a command. */
  return { environment: { AWS_ENDPOINT_URL: origin, AWS_REGION: region, ...credentials }, close };
}

async function readRequest(request: IncomingMessage): Promise<AwsRequest> {
  const { authorization = '', 'x-amz-target': target } = request.headers;
  // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
  const [, accessKeyId = '', service = ''] =
    /Credential=([^/]+)\/[^/]+\/[^/]+\/([^/]+)\//.exec(authorization) ?? [];
  const form = new URLSearchParams(await text(request));
  const stack = form.get('StackName') ?? '';
  const arn = `arn:aws:cloudformation:${region}:${accountId}:stack/${stack}/00000000-0000-4000-8000-000000000000`;
  const action = `${service}:${form.get('Action') ?? String(target).split('.')[1]}`;
  return { action, accessKeyId, stack, resource: stack ? arn : '*' };
}

function resultOf(
  { action, stack }: AwsRequest,
  { stacks = {}, caller = '' }: AwsBehavior,
): string | AwsError {
  if (action === 'sts:GetCallerIdentity') return resultXml('GetCallerIdentity', `<Arn>${caller}</Arn>`);
  const outputs = stacks[stack];
  if (!outputs) {
    return { status: 400, code: 'ValidationError', message: `Stack with id ${stack} does not exist` };
  }
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const xml = `<Stacks><member><Outputs>${members.join('')}</Outputs></member></Stacks>`;
  return resultXml('DescribeStacks', xml);
}

function resultXml(action: string, xml: string): string {
  return `<${action}Response><${action}Result>${xml}</${action}Result></${action}Response>`;
}
