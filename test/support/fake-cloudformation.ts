import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Refusal {
  status: number;
  code: string;
  message: string;
}

export interface FakeCloudFormation {
  /** For the environment of a command that is to ask it. */
  environment: { AWS_ENDPOINT_URL_CLOUDFORMATION: string };
  /** What it was asked so far, `DescribeStacks PetStore-staging`. */
  asked: string[];
  close: () => Promise<void>;
}

/**
 * Answers DescribeStacks as CloudFormation does in its query protocol: with the outputs of the stacks, by their names.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
 *
 * @param refusal what it says to every question instead.
 */
export async function startFakeCloudFormation(
  stacks: Record<string, Record<string, string>>,
  refusal?: Refusal,
): Promise<FakeCloudFormation> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const form = new URLSearchParams(await text(request));
    const name = form.get('StackName') ?? '';
    asked.push(`${form.get('Action')} ${name}`);
    const refused = refusal ?? (stacks[name] ? undefined : unknownStack(name));
    response.writeHead(refused?.status ?? 200, { 'Content-Type': 'text/xml' });
    response.end(refused ? errorXml(refused) : stackXml(name, stacks[name]!));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    environment: { AWS_ENDPOINT_URL_CLOUDFORMATION: `http://127.0.0.1:${port}` },
    asked,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function unknownStack(name: string): Refusal {
  return { status: 400, code: 'ValidationError', message: `Stack with id ${name} does not exist` };
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

function errorXml({ code, message }: Refusal): string {
  return `<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">
  <Error><Type>Sender</Type><Code>${code}</Code><Message>${escape(message)}</Message></Error>
  <RequestId>00000000-0000-4000-8000-000000000000</RequestId>
</ErrorResponse>`;
}

function escape(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
