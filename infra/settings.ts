import { inspect } from 'node:util';
import * as v from 'valibot';

/** A setting that must be mended before anything can be synthesized; the message says how. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

// Messages complete the sentence "`name` must be …".

const yesOrNo = v.boolean('must be true or false');

function wholeNumber(minimum: number, maximum = Infinity) {
  const range = maximum === Infinity ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  return v.custom<number>(
    (value) => Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum,
    `must be a whole number ${range}`,
  );
}

function text(pattern: RegExp, message: string) {
  return v.pipe(v.string(message), v.regex(pattern, message));
}

function describeField({ expected }: v.BaseIssue<unknown>): string {
  if (expected === 'never') return 'is no setting';
  return expected === 'Object' ? 'must be an object of settings' : 'is missing';
}

/** https://docs.aws.amazon.com/waf/latest/APIReference/API_RateBasedStatement.html */
const requestLimit = wholeNumber(10, 2_000_000_000);

/** The settings of a stage: units are in the names, bounds are AWS's where no reason is given. */
const Settings = v.strictObject(
  {
    /**
     * Keys of each list index that every list asks. May grow and must never shrink: pets under the keys beyond would
     * vanish from lists. How to raise it: docs/runbook.md, "Raising listPartitions".
     */
    listPartitions: wholeNumber(1, 1_000),
    /**
     * The `listPartitions` of the last finished deployment, over which new pets are spread. Raised afterwards, so that
     * neither a deployment nor its rollback puts a pet where lists do not look.
     */
    recordedListPartitions: wholeNumber(1, 1_000),
    /** Whether stack and tables are protected from deletion, and tables and logs outlive the stack. */
    keepsData: yesOrNo,
    /**
     * How far back a table can be restored to any second.
     * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery_Howitworks.html
     */
    recoveryDays: wholeNumber(1, 35),
    /** Upper bounds for each table and index, on demand: what a runaway client can cost. */
    maxReadUnitsPerSecond: wholeNumber(1),
    maxWriteUnitsPerSecond: wholeNumber(1),
    /**
     * CloudWatch offers few of these numbers, which the synth checks.
     * https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
     */
    logRetentionDays: wholeNumber(1),
    /** Above what the database may take, below the 29 seconds that API Gateway waits. */
    functionTimeoutSeconds: wholeNumber(6, 28),
    /** How long API Gateway caches the authorizer's decision: as long as a revoked key can go on working. */
    authorizerCacheSeconds: wholeNumber(0, 3_600),
    /** Whether new code gets a tenth of the requests for ten minutes first, or all of them at once. */
    deploysByCanary: yesOrNo,
    /**
     * Rate and burst of the token bucket of each method of the API; requests beyond get 429. API Gateway applies them as
     * targets, not as ceilings: https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-request-throttling.html
     */
    requestsPerSecond: wholeNumber(1),
    requestBurst: wholeNumber(1),
    /**
     * Approximate limits of the web ACL for one IP address and one API key. Changing one resets its counts:
     * https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-type-rate-based-caveats.html
     * @default - no web ACL
     */
    firewall: v.exactOptional(
      v.strictObject(
        { requestsPerMinutePerIp: requestLimit, requestsPerMinutePerKey: requestLimit },
        describeField,
      ),
    ),
    /** Address that alarms are sent to, or null for subscribers of the topic AlarmTopic only. */
    alarmEmail: v.nullable(text(/^[^\s@]+@[^\s@]+$/, 'must be an e-mail address or null')),
    /**
     * Custom domain: the API is then at `https://{name}/v1`, and at no other address. The certificate is one of AWS
     * Certificate Manager in the stage's region, the Route 53 zone gets the domain's record.
     * @default - the address that API Gateway assigns
     */
    domain: v.exactOptional(
      v.strictObject(
        {
          name: text(
            /^(?=.{4,253}$)(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z][a-z\d-]{0,61}[a-z\d]$/,
            'must be a name in lower case without scheme or path, such as pets.example.com',
          ),
          certificateArn: text(
            /^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/,
            'must be the ARN of a certificate in AWS Certificate Manager',
          ),
          hostedZoneId: text(
            /^Z[A-Z\d]+$/,
            'must be the id of a Route 53 zone, such as Z0123456789ABCDEFGHIJ',
          ),
        },
        describeField,
      ),
    ),
  },
  describeField,
);

export type StageSettings = v.InferOutput<typeof Settings>;

function findContradiction({ listPartitions, recordedListPartitions }: StageSettings): string | undefined {
  return listPartitions < recordedListPartitions
    ? `listPartitions must not shrink below the recorded ${recordedListPartitions}, but is ${listPartitions}: pets under the keys beyond would vanish from lists`
    : undefined;
}

/** @throws SettingsError naming the stage, the setting and what it must be. */
export function checkSettings(stage: string, settings: StageSettings): void {
  const { issues, output } = v.safeParse(Settings, settings, { abortEarly: true });
  const complaint = issues ? describe(issues[0]) : findContradiction(output);
  if (complaint) throw new SettingsError(`Stage ${stage}: ${complaint}.`);
}

function describe(issue: v.BaseIssue<unknown>): string {
  const complaint = `${v.getDotPath(issue) ?? 'it'} ${issue.message}`;
  return issue.message.startsWith('is ') ? complaint : `${complaint}, not ${show(issue.input)}`;
}

function show(value: unknown): string {
  return inspect(value, { breakLength: Infinity, depth: 1, maxArrayLength: 5, maxStringLength: 80 });
}

/** The stack that all stages share, and the name of the local service in operator commands. */
const RESERVED = ['account', 'local'];

/** Returns whether a stage may have the name, which is part of its keys, its base URL and its stack's name. */
export function isStageName(name: string): boolean {
  return /^[a-z]{1,30}$/.test(name) && !RESERVED.includes(name);
}

type Stages = Record<string, StageSettings>;

/** @throws SettingsError for the first stage that is wrong, or shares its domain with another. */
export function checkStages(all: Stages): void {
  const stageOfDomain = new Map<string, string>();
  for (const [stage, settings] of Object.entries(all)) {
    if (!isStageName(stage)) {
      throw new SettingsError(
        `A stage's name must consist of at most 30 lower-case letters and be neither ${RESERVED.join(' nor ')}, not ${show(stage)}.`,
      );
    }
    checkSettings(stage, settings);
    const { domain } = settings;
    if (!domain) continue;
    const other = stageOfDomain.get(domain.name);
    if (other)
      throw new SettingsError(`The stages ${other} and ${stage} have the same domain ${domain.name}.`);
    stageOfDomain.set(domain.name, stage);
  }
}

/**
 * Returns the stages to synthesize: all, or only the stage on demand that `-c stage=NAME -c like=STAGE` describes.
 *
 * @throws SettingsError if the name is not free, or there is no stage to be like.
 */
export function stagesOf(all: Stages, { stage, like }: { stage?: string; like?: string }): Stages {
  if (stage === undefined && like === undefined) return all;
  if (!stage || !isStageName(stage) || Object.hasOwn(all, stage) || !like || !Object.hasOwn(all, like)) {
    throw new SettingsError(
      `A stage on demand needs a free name of at most 30 lower-case letters in -c stage and ${Object.keys(all).join(' or ')} in -c like, not ${show(stage)} and ${show(like)}.`,
    );
  }
  // API Gateway serves a domain once.
  const { domain: _domain, ...settings } = all[like]!;
  return { [stage]: { ...settings, keepsData: false } };
}
