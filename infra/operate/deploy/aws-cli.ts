import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { UsageError } from '../../command.ts';

/**
 * Runs an operation of AWS, such as `lambda update-alias`, and returns the response.
 *
 * @param input members of the request, with the names of AWS's API
 * @throws AwsError if AWS rejects the request
 */
export type Aws = (service: string, operation: string, input?: object) => Promise<any>;

/** An error of AWS or of the AWS CLI. If the CLI was started, the message contains the CLI's error output. */
export class AwsError extends UsageError {
  /** Error code of AWS, such as `ValidationException`, or undefined, for example if the request did not reach AWS. */
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Calls AWS through the AWS CLI instead of the SDK, because no code of npm packages except the CDK's command line
 * should run while a job can assume the deployment role. The AWS CLI runs in a process group of its own, so that Ctrl-C
 * does not interrupt a request.
 */
export const awsCli: Aws = async (service, operation, input = {}) => {
  const parameters = [service, operation, '--cli-input-json', JSON.stringify(input), '--output', 'json'];
  const running = spawn('aws', parameters, {
    detached: true,
    env: { ...process.env, AWS_PAGER: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(running, 'close').catch(() => {
    throw new AwsError('Install AWS CLI 2, because the command aws cannot be started.');
  });
  const [stdout, stderr, [code]] = await Promise.all([text(running.stdout), text(running.stderr), ended]);
  if (code === 0) return stdout.trim() ? JSON.parse(stdout) : {};
  const problem = stderr.trim() || `exit code ${code}`;
  throw new AwsError(`aws ${service} ${operation}: ${problem}`, /\((\w+)\)/.exec(problem)?.[1]);
};
