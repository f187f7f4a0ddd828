// How the operator commands end: what an operator can mend is told in a sentence.

/** Something that the operator can mend; shown as one message, without a stack trace. */
export class UsageError extends Error {}

/** Does something that Ctrl-C is not to cut off; pressed again, it ends the command. */
export async function uninterrupted<Result>(act: () => Promise<Result>): Promise<Result> {
  for (const signal of endingSignals) process.once(signal, sayThatItGoesOn);
  try {
    return await act();
  } finally {
    for (const signal of endingSignals) process.off(signal, sayThatItGoesOn);
  }
}

const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function sayThatItGoesOn(): void {
  console.error('Going on to the end of this step …');
}

/** Runs a command: what its operator can mend becomes one message, anything else a stack trace. */
export async function runCommand(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    const message = explain(error as CommandError);
    if (message === undefined) throw error;
    console.error(message);
    process.exit(1);
  }
}

type CommandError = Error & { code?: string; $metadata?: unknown };

/** What an error tells the operator; undefined for one that is a fault of the command. */
function explain(error: CommandError): string | undefined {
  if (error.message === 'Region is missing') return 'Set AWS_REGION to the region of the stage.';
  if (error.message.startsWith('Region not accepted')) {
    return `AWS_REGION must be a region such as eu-central-1, not ${process.env['AWS_REGION']}.`;
  }
  if (unreachable.has(error.code ?? '')) {
    return `AWS cannot be reached; look at your network and at AWS_REGION: ${withoutPeriod(error)}.`;
  }
  if (error.name === 'CredentialsProviderError') {
    return `Set your AWS credentials, AWS_PROFILE for example: ${withoutPeriod(error)}.`;
  }
  if (error.name.startsWith('AccessDenied')) {
    return `AWS does not let you do this; ask for the policy in docs/api-keys.md, "Permissions": ${withoutPeriod(error)}.`;
  }
  if (refusedCredentials.has(error.name)) {
    return `AWS does not accept your credentials; sign in again, or look at AWS_PROFILE and AWS_REGION: ${withoutPeriod(error)}.`;
  }
  if (error.message.includes('does not have the specified index')) {
    return 'The stage is older than this command: deploy it first.';
  }
  const isForOperators =
    error instanceof UsageError || error.code?.startsWith('ERR_PARSE_ARGS') || error.$metadata;
  return isForOperators ? error.message : undefined;
}

const unreachable = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPROTO',
  'ETIMEDOUT',
]);

/** As DynamoDB calls them in its JSON protocol, and CloudFormation and STS in the query protocol. */
const refusedCredentials = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'IncompleteSignature',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'MissingAuthenticationToken',
  'MissingAuthenticationTokenException',
  'RequestExpired',
  'SignatureDoesNotMatch',
  'UnrecognizedClientException',
]);

function withoutPeriod({ message }: Error): string {
  return message.replace(/\.$/, '');
}
