import { inspect } from 'node:util';
import * as v from 'valibot';

/** A setting that must be mended before anything can be synthesized; the message says how. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

// Messages complete the sentence "`name` must be …".

const yesOrNo = v.boolean('must be true or false');

function wholeNumber(minimum: number, maximum = Infinity) {
  const message =
    maximum === Infinity
      ? `must be a whole number of at least ${minimum}`
      : `must be a whole number from ${minimum} to ${maximum}`;
  return v.pipe(
    v.number(message),
    v.integer(message),
    v.minValue(minimum, message),
    v.maxValue(maximum, message),
  );
}

function text(pattern: RegExp, message: string) {
  return v.pipe(v.string(message), v.regex(pattern, message));
}

function describeMember({ expected }: v.BaseIssue<unknown>): string {
  if (expected === 'never') return 'is no setting';
  return expected === 'Object' ? 'must be an object of settings' : 'is missing';
}

/** https://docs.aws.amazon.com/waf/latest/APIReference/API_RateBasedStatement.html */
const requestLimit = wholeNumber(10, 2_000_000_000);

/** https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html */
const RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1_096, 1_827, 2_192, 2_557, 2_922, 3_288,
  3_653,
];

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
    logRetentionDays: v.picklist(
      RETENTION_DAYS,
      'must be a time that CloudWatch offers, such as 14, 30, 90 or 365',
    ),
    /** Above what the database may take, below the 29 seconds that API Gateway waits. */
    functionTimeoutSeconds: wholeNumber(6, 28),
    /** How long API Gateway caches the authorizer's decision: as long as a revoked key can go on working. */
    authorizerCacheSeconds: wholeNumber(0, 3_600),
    /** Whether new code gets a tenth of the requests for ten minutes first, or all of them at once. */
    deploysByCanary: yesOrNo,
    /** Rate and burst of the stage's token bucket: requests beyond get 429. */
    requestsPerSecond: wholeNumber(1),
    requestBurst: wholeNumber(1),
    /**
     * Limits of the web ACL for one IP address and one API key.
     * @default - no web ACL
     */
    firewall: v.exactOptional(
      v.strictObject(
        { requestsPerMinutePerAddress: requestLimit, requestsPerMinutePerKey: requestLimit },
        describeMember,
      ),
    ),
    /**
     * Address that alarms are sent to.
     * @default - subscribers of the topic AlarmTopic only
     */
    alarmEmail: v.exactOptional(text(/^[^\s@]+@[^\s@]+$/, 'must be an e-mail address')),
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
        describeMember,
      ),
    ),
  },
  describeMember,
);

export type StageSettings = v.InferOutput<typeof Settings>;

function findContradiction(settings: StageSettings): string | undefined {
  const { listPartitions, recordedListPartitions, requestsPerSecond, requestBurst } = settings;
  if (listPartitions < recordedListPartitions) {
    return `listPartitions must not shrink below the recorded ${recordedListPartitions}, but is ${listPartitions}: pets under the keys beyond would vanish from lists`;
  }
  if (requestsPerSecond > requestBurst) {
    return `requestsPerSecond must not exceed requestBurst, but is ${requestsPerSecond} with a burst of ${requestBurst}: the rate would never be reached`;
  }
  return undefined;
}

/** @throws SettingsError naming the stage, the setting and what it must be. */
export function checkSettings(stage: string, settings: StageSettings): void {
  const { issues, output } = v.safeParse(Settings, settings, { abortEarly: true });
  const complaint = issues ? describe(issues[0]) : findContradiction(output);
  if (complaint) throw new SettingsError(`Stage ${stage}: ${complaint}.`);
}

function describe(issue: v.BaseIssue<unknown>): string {
  const name = v.getDotPath(issue) ?? 'it';
  return issue.message.startsWith('is ')
    ? `${name} ${issue.message}`
    : `${name} ${issue.message}, not ${show(issue.input)}`;
}

function show(value: unknown): string {
  return inspect(value, { breakLength: Infinity, depth: 1, maxArrayLength: 5, maxStringLength: 80 });
}

/** The stack beside the stages, and what the operator commands call the local service. */
const RESERVED = new Set(['account', 'local']);

/** @throws SettingsError for the first stage that is wrong, or shares its domain with another. */
export function checkStages(all: Record<string, StageSettings>): void {
  const stageOfDomain = new Map<string, string>();
  for (const [stage, settings] of Object.entries(all)) {
    // It is part of each key, of the base address, and of the stack's name.
    if (!/^[a-z]+$/.test(stage) || RESERVED.has(stage)) {
      throw new SettingsError(
        `A stage's name must consist of lower-case letters and be neither ${[...RESERVED].join(' nor ')}, not ${show(stage)}.`,
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
