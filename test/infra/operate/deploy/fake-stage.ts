import { isDeepStrictEqual } from 'node:util';
import type { Tools } from '../../../../infra/operate/deploy/deploy.ts';
import type { Template } from '../../../../infra/operate/deploy/assembly.ts';
import { AwsError } from '../../../../infra/operate/deploy/aws-cli.ts';
import { UsageError } from '../../../../infra/command.ts';

const MINUTE = 60_000;

/** Requests per minute that each function gets. */
const REQUESTS = 600;

/** Operation names of the fake stage's functions. */
const functionNames = ['listBooks', 'addBook', 'getBook', 'authorizer'] as const;
type Operation = (typeof functionNames)[number];

/** Shares of the requests that fail, by metric, operation and version, such as `{ Errors: { addBook: { 8: 0.5 } } }`. */
type Failures = Record<string, Partial<Record<Operation, Record<string, number>>>>;

export interface Behavior {
  failures: Failures;
  /** Minute of the deployment from which the probe fails. */
  probeFailsAt: number;
  /** Whether the alarm that CloudFormation watches is already active before the deployment, and stays active. */
  isAlarmActive: boolean;
  /** Minute of the deployment from which the alarm is active. */
  alarmFiresAt: number;
  /** Differences that drift detection finds. */
  drifts: object[];
  /** Status with which drift detection ends. */
  driftDetection: string;
  reservedConcurrency: number | undefined;
  webAcl: string | undefined;
  /** Returns the error with which AWS rejects a request, or undefined if AWS accepts the request. */
  reject: (service: string, operation: string, input: any) => AwsError | undefined;
}

const pascal = (operation: string) => `${operation.charAt(0).toUpperCase()}${operation.slice(1)}`;
const epochs = '[{"since":"2025-01-01T00:00:00Z","count":1}]';

/** Returns the parts of a stage's template that a deployment reads, as `addReleaseParameters` leaves them. */
export function templateWith(listPartitions = epochs): Template {
  const functions = functionNames.flatMap((operation) => {
    const name = pascal(operation);
    const newVersion = { 'Fn::GetAtt': [`${name}CurrentVersion5678`, 'Version'] };
    const held = { 'Fn::If': [`Hold${name}`, { Ref: `${name}LiveVersion` }, newVersion] };
    return [
      [
        `${name}1234`,
        { Type: 'AWS::Lambda::Function', Properties: { Role: { 'Fn::GetAtt': [`${name}Role`, 'Arn'] } } },
      ],
      [
        `${name}Live12345678`,
        {
          Type: 'AWS::Lambda::Alias',
          Properties: { FunctionName: { Ref: `${name}1234` }, FunctionVersion: held },
        },
      ],
      [`${name}CurrentVersion5678`, { Type: 'AWS::Lambda::Version' }],
    ] as const;
  });
  return {
    Resources: {
      ...Object.fromEntries(functions),
      Api1234: { Type: 'AWS::ApiGateway::RestApi' },
      Stage1234: { Type: 'AWS::ApiGateway::Stage' },
      FirewallAssociation: { Type: 'AWS::WAFv2::WebACLAssociation' },
    },
    Outputs: { ListPartitions: { Value: listPartitions } },
  };
}

/** Simulates the end of the process. All later calls of the tools also throw this error. */
class Killed extends Error {}

/**
 * Simulates a deployed stage with CloudFormation, Lambda and CloudWatch, as far as a deployment uses them. At first, all
 * aliases point to version 7.
 */
export class FakeStage {
  readonly behavior: Behavior;
  readonly calls: string[] = [];
  readonly lines: string[] = [];
  readonly stack = {
    status: 'UPDATE_COMPLETE',
    updatedAt: '2026-12-01',
    parameters: { Released: 'true' } as Record<string, string>,
    outputs: { BaseUrl: 'https://example.com/v1', ListPartitions: epochs } as Record<string, string>,
  };
  exists = true;
  /** Newest version of each function that the stack has published. */
  newest = '7';
  /** Version that the next deployment publishes. */
  planned = '8';
  /** `LIST_PARTITIONS` of each version whose epochs differ from `epochs`. */
  readonly epochsOf: Record<string, string> = {};
  private readonly history = new Map<
    string,
    { since: number; version: string; weights: Record<string, number> }[]
  >();
  private isCanceled = false;
  private driftPolls = 0;
  private readonly start = Date.now();
  private template: Template = templateWith();

  constructor(behavior: Partial<Behavior> = {}) {
    this.behavior = {
      failures: {},
      probeFailsAt: Infinity,
      isAlarmActive: false,
      alarmFiresAt: Infinity,
      drifts: [],
      driftDetection: 'DETECTION_COMPLETE',
      reservedConcurrency: undefined,
      webAcl: 'arn:web-acl',
      reject: () => undefined,
      ...behavior,
    };
    for (const name of functionNames) this.setAlias(name, '7');
  }

  /**
   * Where each alias points, such as `['7', '7', '7', '8: 0.1 7']`. In this example, the last alias sends 10% of its
   * requests to version 8, and all others to version 7.
   */
  get live(): string[] {
    return functionNames.map((name) => {
      const { version, weights } = this.history.get(name)!.at(-1)!;
      const others = Object.entries(weights).map(([other, weight]) => `${other}: ${weight} `);
      return others.join('') + version;
    });
  }

  setAlias(name: string, version: string, weights: Record<string, number> = {}): void {
    const entries = this.history.get(name) ?? [];
    this.history.set(name, [...entries, { since: Date.now(), version, weights }]);
  }

  /** Returns an alias's revision id, which changes with each update of the alias. */
  private revisionOf(name: string): string {
    return `revision ${this.history.get(name)!.length}`;
  }

  private get minute(): number {
    return (Date.now() - this.start) / MINUTE;
  }

  private get isAlarmActive(): boolean {
    return this.behavior.isAlarmActive || this.minute >= this.behavior.alarmFiresAt;
  }

  /**
   * Returns tools that act on this stage.
   *
   * @param killedAt number of the call at which the process ends
   * @param isEffective whether the call with the number `killedAt` still takes effect after the end of the process
   * @param interruptedAt number of the call before which an operator interrupts the deployment
   */
  tools({ killedAt = Infinity, isEffective = false, interruptedAt = Infinity } = {}): Tools {
    let count = 0;
    let isDead = false;
    const interruption = new AbortController();
    const call = async <T>(act: () => Promise<T>): Promise<T> => {
      if (isDead) throw new Killed();
      count += 1;
      if (count === interruptedAt) interruption.abort(new UsageError('The deployment was interrupted.'));
      if (count !== killedAt) {
        const result = await act();
        if (isDead) throw new Killed();
        return result;
      }
      isDead = true;
      if (isEffective) void act().catch(() => {});
      throw new Killed();
    };
    return {
      aws: (service, operation, input) => call(() => this.respond(service, operation, input)),
      deployStack: (stack, options) => call(() => this.deployStack(stack, options)),
      probe: (_url, minutes, signal) => call(() => this.probe(minutes, signal)),
      wait: (milliseconds) => call(() => wait(milliseconds)),
      print: (line) => {
        this.lines.push(line);
      },
      hasApiKey: true,
      interruption: interruption.signal,
    };
  }

  private async probe(minutes: number, signal: AbortSignal): Promise<void> {
    this.calls.push(`probe for ${minutes} minutes`);
    const failure = new UsageError('3 requests failed.');
    if (this.behavior.probeFailsAt === 0) throw failure;
    if (minutes === 0) return signal.throwIfAborted();
    await new Promise<void>((_resolve, reject) => {
      const { probeFailsAt } = this.behavior;
      const timer =
        probeFailsAt === Infinity ? undefined : setTimeout(() => reject(failure), probeFailsAt * MINUTE);
      const stop = () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      };
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop);
    });
  }

  /**
   * Updates the stack, which takes two minutes and the monitoring time. As in CloudFormation, the update continues even if
   * nobody waits for it.
   */
  private async deployStack(stack: string, options: string[]): Promise<void> {
    this.calls.push(`deploy ${stack} ${options.join(' ')}`.trim());
    if (stack === 'PetStore-account') return;
    if (this.stack.status.endsWith('_IN_PROGRESS')) throw new UsageError('cdk deploy failed.');
    this.exists = true;
    const parameters = { ...this.stack.parameters };
    const values = options.filter((_, index) => options[index - 1] === '--parameters');
    for (const value of values) {
      const [name = '', text = ''] = value.split('=');
      parameters[name] = text;
    }
    const old = this.stack.parameters;
    const { newest } = this;
    const updatedAt = new Date().toISOString();
    Object.assign(this.stack, { status: 'UPDATE_IN_PROGRESS', parameters, updatedAt });
    this.isCanceled = false;
    const declaredVersion = (name: string) =>
      (old['Released'] === 'false' ? old[`${pascal(name)}LiveVersion`] : undefined) || newest;
    const isWatched = options.includes('--rollback-trigger-alarm-arns=arn:alarm');
    const monitored = options.includes('--monitoring-time-minutes=5') ? 5 : 0;
    for (let minute = 1; minute <= 2 + monitored; minute += 1) {
      await wait(MINUTE);
      const hasFired = isWatched && this.isAlarmActive;
      if (this.isCanceled || hasFired) {
        this.newest = newest;
        Object.assign(this.stack, { status: 'UPDATE_ROLLBACK_COMPLETE', parameters: old });
        // CloudFormation restores the versions of the last template, not those that somebody chose by hand.
        if (minute > 2) for (const name of functionNames) this.setAlias(name, declaredVersion(name));
        throw new UsageError('cdk deploy failed.');
      }
      if (minute !== 2) continue;
      this.newest = this.planned;
      for (const name of functionNames) {
        const held = parameters[`${pascal(name)}LiveVersion`];
        const version = parameters['Released'] === 'false' && held ? held : this.newest;
        // CloudFormation changes an alias only if its version in the template changes.
        if (version !== declaredVersion(name)) this.setAlias(name, version);
      }
    }
    this.stack.status = 'UPDATE_COMPLETE';
  }

  private async respond(service: string, operation: string, input: any = {}): Promise<any> {
    this.calls.push(`${service} ${operation}`);
    const error = this.behavior.reject(service, operation, input);
    if (error) throw error;
    switch (operation) {
      case 'describe-stacks': {
        if (!this.exists)
          throw new AwsError('Stack with id PetStore-production does not exist', 'ValidationError');
        const Parameters = Object.entries(this.stack.parameters).map(([ParameterKey, ParameterValue]) => ({
          ParameterKey,
          ParameterValue,
        }));
        const Outputs = Object.entries(this.stack.outputs).map(([OutputKey, OutputValue]) => ({
          OutputKey,
          OutputValue,
        }));
        const { status: StackStatus, updatedAt: LastUpdatedTime } = this.stack;
        return { Stacks: [{ StackStatus, LastUpdatedTime, Parameters, Outputs }] };
      }
      case 'list-stack-resources':
        return { StackResourceSummaries: this.resources() };
      case 'get-template':
        return { TemplateBody: this.template };
      case 'detect-stack-drift':
        return { StackDriftDetectionId: 'detection' };
      case 'describe-stack-drift-detection-status': {
        this.driftPolls += 1;
        const DetectionStatus =
          this.driftPolls === 1 ? 'DETECTION_IN_PROGRESS' : this.behavior.driftDetection;
        return { DetectionStatus, DetectionStatusReason: 'not authorized to perform kms:DescribeKey' };
      }
      case 'describe-stack-resource-drifts':
        return { StackResourceDrifts: this.behavior.drifts };
      case 'get-function-concurrency':
        return { ReservedConcurrentExecutions: this.behavior.reservedConcurrency };
      case 'get-stage':
        return { webAclArn: this.behavior.webAcl };
      case 'describe-alarms':
        return {
          MetricAlarms: [{ AlarmArn: 'arn:alarm', StateValue: this.isAlarmActive ? 'ALARM' : 'OK' }],
        };
      case 'cancel-update-stack':
        // In the first minute, CloudFormation still creates the change set, so there is no update to cancel.
        if (this.stack.status !== 'UPDATE_IN_PROGRESS' || this.minute < 1)
          throw new AwsError('not in progress', 'ValidationError');
        this.isCanceled = true;
        return {};
      case 'get-alias': {
        const { version, weights } = this.history.get(input.FunctionName)!.at(-1)!;
        return {
          FunctionVersion: version,
          RoutingConfig: { AdditionalVersionWeights: weights },
          RevisionId: this.revisionOf(input.FunctionName),
        };
      }
      case 'update-alias': {
        const { FunctionName: name, FunctionVersion, RoutingConfig, RevisionId } = input;
        if (RevisionId !== undefined && RevisionId !== this.revisionOf(name))
          throw new AwsError('The revision is not the latest one.', 'PreconditionFailedException');
        this.setAlias(name, FunctionVersion, RoutingConfig.AdditionalVersionWeights);
        return { RevisionId: this.revisionOf(name) };
      }
      case 'get-function-configuration': {
        const { version } = this.history.get(input.FunctionName)!.at(-1)!;
        const qualifier = input.Qualifier === 'live' ? version : input.Qualifier;
        return { Environment: { Variables: { LIST_PARTITIONS: this.epochsOf[qualifier] ?? epochs } } };
      }
      case 'get-metric-data':
        if (Date.parse(input.StartTime) >= Date.parse(input.EndTime))
          throw new AwsError('time', 'ValidationError');
        return { MetricDataResults: input.MetricDataQueries.map((query: any) => this.dataOf(query, input)) };
      default:
        throw new Error(`Implement ${service} ${operation} in fake-stage.ts.`);
    }
  }

  private resources() {
    return Object.entries(this.template.Resources).map(([LogicalResourceId, { Type }]) => {
      const name = functionNames.find((operation) => LogicalResourceId.startsWith(pascal(operation))) ?? '';
      const arn = `arn:aws:lambda:eu-central-1:123456789012:function:${name}`;
      const ids: Record<string, string> = {
        'AWS::Lambda::Alias': `${arn}:live`,
        'AWS::Lambda::Version': `${arn}:${this.newest}`,
        'AWS::Lambda::Function': name,
      };
      return { LogicalResourceId, PhysicalResourceId: ids[Type] ?? LogicalResourceId };
    });
  }

  /**
   * Returns a version's failures in each minute that has any. Minutes that started less than three minutes ago are
   * missing, because CloudWatch gets metrics late.
   */
  private dataOf({ Id, MetricStat }: any, { StartTime }: { StartTime: string }) {
    const { Namespace, MetricName, Dimensions } = MetricStat.Metric;
    const values: Record<string, string> = Object.fromEntries(
      Dimensions.map(({ Name, Value }: any) => [Name, Value]),
    );
    const version = values['version'] ?? values['ExecutedVersion']!;
    const name = (values['operation'] ?? values['FunctionName']) as Operation;
    // These are the metrics that Lambda and the functions emit. CloudWatch has no data for others.
    const ofLambda = { FunctionName: name, Resource: `${name}:live`, ExecutedVersion: version };
    const ofFunction = { service: 'pet-store-production', operation: name, version };
    const [namespace, dimensions] =
      MetricName === 'Errors' ? ['AWS/Lambda', ofLambda] : ['PetStore', ofFunction];
    const isEmitted =
      Namespace === namespace &&
      isDeepStrictEqual(values, dimensions) &&
      MetricStat.Stat === 'Sum' &&
      MetricStat.Period === 60;
    if (!isEmitted) return { Id, Timestamps: [], Values: [] };
    const share = this.behavior.failures[MetricName]?.[name]?.[version] ?? 0;
    const Timestamps: string[] = [];
    const Values: number[] = [];
    for (let time = Date.parse(StartTime); time + 3 * MINUTE <= Date.now(); time += MINUTE) {
      if (time < this.start) continue;
      const { version: main, weights } = this.history.get(name)!.findLast(({ since }) => since <= time)!;
      const other = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
      const part = version === main ? 1 - other : (weights[version] ?? 0);
      const count = Math.round(REQUESTS * part * share);
      if (count === 0) continue;
      Timestamps.push(new Date(time).toISOString());
      Values.push(count);
    }
    return { Id, Timestamps, Values };
  }
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
