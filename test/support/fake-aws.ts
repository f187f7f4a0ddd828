import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { accountId, region } from '../../infra/local/template/template.ts';

interface Refusal {
  status: number;
  code: string;
  message: string;
}

interface Question {
  /** As in a policy, `cloudformation:DescribeStacks`. */
  action: string;
  /** Access key id of whoever asks. */
  accessKeyId: string;
  /** Name of the stack that it is about, if any. */
  stack: string;
  /** ARN of that stack, or `*`. */
  resource: string;
}

interface FakeAwsOptions {
  /** Outputs of the stacks, by their names. */
  stacks?: Record<string, Record<string, string>>;
  /** ARN of whoever asks. */
  caller?: string;
  /** How far its clock is ahead of this machine's, in milliseconds. */
  clockOffset?: number;
  /** What it refuses; what there is no answer to, it refuses by itself. */
  refuse?: (question: Question) => Refusal | undefined;
}

export interface FakeAws {
  /** For the environment of a command that is to ask it. */
  environment: { AWS_ENDPOINT_URL: string };
  /** What it was asked so far, `DescribeStacks PetStore-staging`. */
  asked: string[];
  close: () => Promise<void>;
}

/**
 * Answers DescribeStacks as CloudFormation does, and GetCallerIdentity as STS does, both in the query protocol; what it is
 * asked as DynamoDB it can refuse, in the JSON protocol.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
 */
export async function startFakeAws({
  stacks = {},
  caller = `arn:aws:iam::${accountId}:user/somebody`,
  clockOffset = 0,
  refuse,
}: FakeAwsOptions): Promise<FakeAws> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const question = await readQuestion(request);
    const { action, stack } = question;
    asked.push(`${action.split(':')[1]} ${stack}`.trim());
    const answer = refuse?.(question) ?? answerTo(question);
    const isJson = action.startsWith('dynamodb:');
    response.setHeader('Date', new Date(Date.now() + clockOffset).toUTCString());
    response.setHeader('Content-Type', isJson ? 'application/x-amz-json-1.0' : 'text/xml');
    if (typeof answer === 'string') response.end(answer);
    else response.writeHead(answer.status).end(isJson ? errorJson(answer) : errorXml(answer));
  });

  function answerTo({ action, stack }: Question): string | Refusal {
    if (action === 'sts:GetCallerIdentity') return callerXml(caller);
    if (action !== 'cloudformation:DescribeStacks') {
      return { status: 400, code: 'InvalidAction', message: `Nobody here answers ${action}` };
    }
    const outputs = stacks[stack];
    if (outputs) return stackXml(stack, outputs);
    return { status: 400, code: 'ValidationError', message: `Stack with id ${stack} does not exist` };
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    environment: { AWS_ENDPOINT_URL: `http://127.0.0.1:${port}` },
    asked,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function readQuestion(request: IncomingMessage): Promise<Question> {
  const { authorization = '', 'x-amz-target': target } = request.headers;
  // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
  const [, accessKeyId = '', service = ''] =
    /Credential=([^/]+)\/[^/]+\/[^/]+\/([^/]+)\//.exec(authorization) ?? [];
  const form = new URLSearchParams(await text(request));
  const stack = form.get('StackName') ?? '';
  return {
    action: `${service}:${form.get('Action') ?? String(target).split('.')[1]}`,
    accessKeyId,
    stack,
    resource: stack
      ? `arn:aws:cloudformation:${region}:${accountId}:stack/${stack}/00000000-0000-4000-8000-000000000000`
      : '*',
  };
}

function stackXml(name: string, outputs: Record<string, string>): string {
  const members = Object.entries(outputs).map(
    ([key, value]) =>
      `<member><OutputKey>${key}</OutputKey><OutputValue>${escape(value)}</OutputValue></member>`,
  );
  return `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">
  <DescribeStacksResult><Stacks><member>
    <StackName>${name}</StackName>
    <CreationTime>2026-01-01T00:00:00.000Z</CreationTime>
    <StackStatus>CREATE_COMPLETE</StackStatus>
    <Outputs>${members.join('')}</Outputs>
  </member></Stacks></DescribeStacksResult>
  <ResponseMetadata><RequestId>00000000-0000-4000-8000-000000000000</RequestId></ResponseMetadata>
</DescribeStacksResponse>`;
}

function callerXml(arn: string): string {
  return `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <GetCallerIdentityResult>
    <Arn>${escape(arn)}</Arn><UserId>AIDAEXAMPLE</UserId><Account>${accountId}</Account>
  </GetCallerIdentityResult>
  <ResponseMetadata><RequestId>00000000-0000-4000-8000-000000000000</RequestId></ResponseMetadata>
</GetCallerIdentityResponse>`;
}

function errorXml({ code, message }: Refusal): string {
  return `<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">
  <Error><Type>Sender</Type><Code>${code}</Code><Message>${escape(message)}</Message></Error>
  <RequestId>00000000-0000-4000-8000-000000000000</RequestId>
</ErrorResponse>`;
}

function errorJson({ code, message }: Refusal): string {
  return JSON.stringify({ __type: `com.amazon.coral.service#${code}`, message });
}

function escape(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
