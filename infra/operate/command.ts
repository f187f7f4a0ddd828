// How the operator commands end: what an operator can mend is told in a sentence.

/** Something that the operator can mend; shown as one message, without a stack trace. */
export class UsageError extends Error {}

const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Does something that Ctrl-C is not to cut off. However often: npm sends on what the terminal has sent already, so that one
 * may come twice.
 */
export async function uninterrupted<Result>(act: () => Promise<Result>): Promise<Result> {
  let isTold = false;
  function goOn(): void {
    if (!isTold) console.error('Going on to the end of this step …');
    isTold = true;
  }
  for (const signal of endingSignals) process.on(signal, goOn);
  try {
    return await act();
  } finally {
    for (const signal of endingSignals) process.off(signal, goOn);
  }
}

/** Text of others made harmless: without what breaks a line, or steers a terminal. */
export function plain(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** Runs a command: what its operator can mend becomes one message, anything else a stack trace. */
export async function runCommand(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    const message = explain(error as CommandError);
    if (message === undefined) throw error;
    console.error(plain(message));
    process.exit(1);
  }
}

type CommandError = Error & { code?: string; $metadata?: unknown };

/** What an error tells the operator; undefined for one that is a fault of the command. */
function explain(error: CommandError): string | undefined {
  if (error instanceof UsageError) return error.message;
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
  return error.code?.startsWith('ERR_PARSE_ARGS') || error.$metadata ? error.message : undefined;
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
