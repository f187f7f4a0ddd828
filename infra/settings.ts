import { inspect } from 'node:util';
import * as v from 'valibot';

/** Error for an invalid setting, which stops synthesis. The message describes the valid values. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

// Each message completes a sentence that starts with a setting, as in "recoveryDays must be an integer from 1 to 35".

const boolean = v.boolean('must be true or false');

function integer(minimum: number, maximum = Infinity) {
  const range = maximum === Infinity ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  return v.custom<number>(
    (value) => Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum,
    `must be an integer ${range}`,
  );
}

function text(pattern: RegExp, message: string) {
  return v.pipe(v.string(message), v.regex(pattern, message));
}

function describeField({ expected }: v.BaseIssue<unknown>): string {
  if (expected === 'never') return 'is not a setting';
  return expected === 'Object' ? 'must be an object' : 'is missing';
}

/** https://docs.aws.amazon.com/waf/latest/APIReference/API_RateBasedStatement.html */
const requestLimit = integer(10, 2_000_000_000);

/** The settings of a stage. If no reason is given for a valid range, the range is an AWS limit. */
const Settings = v.strictObject(
  {
    /**
     * Number of partitions that each list queries. Never lower this number, because lists would omit the pets in the
     * removed partitions. The section "Raising listPartitions" in docs/runbook.md explains how to raise the number.
     */
    listPartitions: integer(1, 1_000),
    /**
     * Number of partitions that new pets are spread over. Raise this number one deployment after `listPartitions`, so
     * that lists query every partition that contains pets, even during a deployment or rollback.
     */
    recordedListPartitions: integer(1, 1_000),
    /** Whether the stack and its tables are protected from deletion. If true, the tables and logs outlive the stack. */
    keepsData: boolean,
    /**
     * Number of days within which a table can be restored to any second.
     * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery_Howitworks.html
     */
    recoveryDays: integer(1, 35),
    /** Maximum throughput of each table and each index. These limits cap the cost that a runaway client can cause. */
    maxReadUnitsPerSecond: integer(1),
    maxWriteUnitsPerSecond: integer(1),
    /**
     * CloudWatch supports only some of these values. Synthesis rejects all other values.
     * https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
     */
    logRetentionDays: integer(1),
    /** This timeout must exceed the database timeout and be less than API Gateway's timeout of 29 seconds. */
    functionTimeoutSeconds: integer(6, 28),
    /** Time for which API Gateway caches the authorizer's result. A revoked key can keep working for this long. */
    authorizerCacheSeconds: integer(0, 3_600),
    /** Whether new code gets only 10% of the requests for the first 10 minutes. */
    deploysByCanary: boolean,
    /**
     * Rate and burst of each API method's token bucket. Requests above the limits get a 429 on a best-effort basis.
     * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-request-throttling.html
     */
    requestsPerSecond: integer(1),
    requestBurst: integer(1),
    /**
     * Approximate limits of the web ACL for each IP address and each API key. Changing a limit resets the counts.
     * https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-type-rate-based-caveats.html
     * @default - no web ACL
     */
    firewall: v.exactOptional(
      v.strictObject(
        { requestsPerMinutePerIp: requestLimit, requestsPerMinutePerKey: requestLimit },
        describeField,
      ),
    ),
    /** Email address that receives alarms. If null, only subscribers to the topic AlarmTopic receive alarms. */
    alarmEmail: v.nullable(text(/^[^\s@]+@[^\s@]+$/, 'must be an email address or null')),
    /**
     * Custom domain, which makes `https://{name}/v1` the only base URL. The certificate must be in the stage's region.
     * The stack adds a record to the Route 53 zone.
     * @default - the base URL that API Gateway assigns
     */
    domain: v.exactOptional(
      v.strictObject(
        {
          name: text(
            /^(?=.{4,253}$)(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z][a-z\d-]{0,61}[a-z\d]$/,
            'must be a lowercase domain name such as pets.example.com',
          ),
          certificateArn: text(
            /^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/,
            'must be the ARN of a certificate in AWS Certificate Manager',
          ),
          hostedZoneId: text(
            /^Z[A-Z\d]+$/,
            'must be the id of a Route 53 zone such as Z0123456789ABCDEFGHIJ',
          ),
        },
        describeField,
      ),
    ),
  },
  describeField,
);

export type StageSettings = v.InferOutput<typeof Settings>;

function conflict({ listPartitions, recordedListPartitions }: StageSettings): string | undefined {
  return listPartitions < recordedListPartitions
    ? `listPartitions must be at least recordedListPartitions (${recordedListPartitions}), not ${listPartitions}, because lists would otherwise omit pets`
    : undefined;
}

/** @throws SettingsError if a setting is invalid */
export function checkSettings(stage: string, settings: StageSettings): void {
  const { issues, output } = v.safeParse(Settings, settings, { abortEarly: true });
  const problem = issues ? describe(issues[0]) : conflict(output);
  if (problem) throw new SettingsError(`infra/stages.ts, stage ${stage}: ${problem}.`);
}

function describe(issue: v.BaseIssue<unknown>): string {
  const problem = `${v.getDotPath(issue) ?? 'the stage'} ${issue.message}`;
  return issue.message.startsWith('is ') ? problem : `${problem}, not ${format(issue.input)}`;
}

function format(value: unknown): string {
  return inspect(value, { breakLength: Infinity, depth: 1, maxArrayLength: 5, maxStringLength: 80 });
}

/** Names that no stage can have. `account` is for the stack that all stages share, `local` for the local service. */
const RESERVED = ['account', 'local'];

/** Checks whether `name` is a valid stage name. API keys, URLs and stack names contain the stage name. */
export function isStageName(name: string): boolean {
  return /^[a-z]{1,30}$/.test(name) && !RESERVED.includes(name);
}

type Stages = Record<string, StageSettings>;

/** @throws SettingsError if a stage is invalid or two stages have the same domain */
export function checkStages(all: Stages): void {
  const stageOfDomain = new Map<string, string>();
  for (const [stage, settings] of Object.entries(all)) {
    if (!isStageName(stage)) {
      throw new SettingsError(
        `Rename stage ${format(stage)} in infra/stages.ts. A stage name must consist of 1 to 30 lowercase letters and cannot be ${RESERVED.map((name) => format(name)).join(' or ')}.`,
      );
    }
    checkSettings(stage, settings);
    const { domain } = settings;
    if (!domain) continue;
    const other = stageOfDomain.get(domain.name);
    if (other)
      throw new SettingsError(`Stages ${other} and ${stage} must not both have the domain ${domain.name}.`);
    stageOfDomain.set(domain.name, stage);
  }
}

/**
 * Returns the stages to synthesize: all stages, or the on-demand stage that `-c stage=NAME -c like=STAGE` defines.
 *
 * @throws SettingsError if NAME is invalid or in use, or if no stage is named STAGE
 */
export function stagesOf(all: Stages, { stage, like }: { stage?: string; like?: string }): Stages {
  if (stage === undefined && like === undefined) return all;
  if (!stage || !isStageName(stage) || Object.hasOwn(all, stage) || !like || !Object.hasOwn(all, like)) {
    throw new SettingsError(
      `An on-demand stage requires \`-c stage=NAME\` with a new name of 1 to 30 lowercase letters, not ${format(stage)}, and \`-c like=STAGE\` with ${Object.keys(all).join(' or ')}, not ${format(like)}.`,
    );
  }
  // The new stage does not inherit the custom domain, because only one API can use a domain.
  const { domain: _domain, ...settings } = all[like]!;
  return { [stage]: { ...settings, keepsData: false } };
}
