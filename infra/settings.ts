import { inspect } from 'node:util';
import * as v from 'valibot';
import { requireStageName, UsageError } from './command.ts';

// Error messages complete a sentence that starts with a setting's name, such as "retainData must be true or false".

function rule<T>(valid: string, isValid: (value: any) => boolean) {
  return v.custom<T>(isValid, ({ input }) => `must be ${valid}, not ${format(input)}`);
}

function format(value: unknown): string {
  return inspect(value, { breakLength: Infinity, depth: 1, maxArrayLength: 5, maxStringLength: 80 });
}

function integer(min: number, max = Infinity) {
  const range = max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`;
  const isInRange = (value: any) => Number.isInteger(value) && min <= value && value <= max;
  return rule<number>(`an integer ${range}`, isInRange);
}

const flag = rule<boolean>('true or false', (value) => typeof value === 'boolean');

function text(pattern: RegExp, valid: string) {
  return rule<string>(valid, (value) => typeof value === 'string' && pattern.test(value));
}

function group<Entries extends v.ObjectEntries>(entries: Entries) {
  return v.strictObject(entries, (issue) => {
    if (issue.expected === 'never') return 'is not a setting';
    return issue.expected === 'Object' ? `must be an object, not ${format(issue.input)}` : 'is missing';
  });
}

/**
 * Schema of a request limit of the firewall, with the range that rate-based rules of AWS WAF accept.
 * https://docs.aws.amazon.com/waf/latest/APIReference/API_RateBasedStatement.html
 */
const limit = integer(10, 2_000_000_000);

/**
 * Days for which CloudWatch can retain logs.
 * https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
 */
const retentions = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

const publicUrl = v.custom<string>(
  (value) => problemOfPublicUrl(value) === undefined,
  ({ input }) => problemOfPublicUrl(input)!,
);

/** Returns the end of an error message, or undefined if the value is valid. */
function problemOfPublicUrl(value: unknown): string | undefined {
  // The message does not quote the value, because the value can contain a password.
  if (typeof value === 'string' && /^\w+:\/\/[^/?#]*@/.test(value))
    return 'must contain no user name or password';
  const url = typeof value === 'string' ? URL.parse(value) : null;
  if (typeof value !== 'string' || url?.protocol !== 'https:')
    return `must be an https URL such as 'https://api.example.com/pet-store', not ${format(value)}`;
  if (/[?#]/.test(value)) return `must contain no query or fragment, unlike ${format(value)}`;
  if (value.endsWith('/')) return `must not end with a slash, unlike ${format(value)}`;
  if (value.endsWith('/v1'))
    return `must not end with /v1, unlike ${format(value)}, because the service adds /v1`;
  // The URL parser encodes characters such as `>`, which would end the URL in a `Link` header.
  const normalized = url.href.replace(/\/$/, '');
  return value === normalized
    ? undefined
    : `must be written as ${format(normalized)}, not as ${format(value)}`;
}

/** Settings of a stage. Most of the valid ranges are AWS's limits. */
const Settings = group({
  /**
   * Whether the stack and its tables are protected from deletion. If so, tables and logs outlive the stack.
   */
  retainData: flag,
  /**
   * Recovery period of point-in-time recovery, in days.
   * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery_Howitworks.html
   */
  recoveryDays: integer(1, 35),
  /** Maximum throughput of each table and each index. These limits cap the cost that a runaway client can cause. */
  maxReadUnitsPerSecond: integer(1),
  maxWriteUnitsPerSecond: integer(1),
  /**
   * Throughput that the tables and indexes of items and the table of idempotency records support without growing first.
   * AWS charges once for each increase, and the values cannot be lowered.
   * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput.html
   * @default - 12,000 read units and 4,000 write units, or what the traffic has reached so far
   */
  warmThroughput: v.exactOptional(
    group({ readUnitsPerSecond: integer(12_000), writeUnitsPerSecond: integer(4_000) }),
  ),
  logRetentionDays: rule<number>(`one of ${retentions.join(', ')}`, (days) => retentions.includes(days)),
  /** Timeout of each function: longer than a throttled database call (7.5 s), shorter than API Gateway's timeout (29 s). */
  functionTimeoutSeconds: integer(8, 28),
  /** Time for which API Gateway caches the authorizer's result. A revoked key can keep working for this long. */
  authorizerCacheSeconds: integer(0, 3_600),
  /**
   * Whether API Gateway and the functions record traces in AWS X-Ray. X-Ray then charges for the first request of each
   * second and for 5% of the others. Anyone, even without an API key, can have every request recorded, with the header
   * `X-Amzn-Trace-Id: Root=…;Sampled=1`. API Gateway may record such requests even if this is false, but the functions have
   * no permission to.
   * https://docs.aws.amazon.com/xray/latest/devguide/xray-services-apigateway.html
   */
  tracing: flag,
  /** Whether CodeDeploy gives new versions of the functions only 10% of the requests for the first 10 minutes. */
  canaryDeployments: flag,
  /**
   * Rate and burst of the token bucket of each API method that creates no items. Requests above the limits get a 429 on
   * a best-effort basis.
   * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-request-throttling.html
   */
  requestsPerSecond: integer(1),
  requestBurst: integer(1),
  /**
   * Rate and burst of the methods that create items, in place of the two settings above. `problemOfCreates` limits them to
   * what DynamoDB accepts.
   */
  createsPerSecond: integer(1),
  createBurst: integer(1),
  /**
   * Web ACL with approximate request limits for each IP address and each API key. A change to a limit resets the counts.
   * If `action` is `count`, the web ACL only counts and logs the requests that it would otherwise block.
   * https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-type-rate-based-caveats.html
   * @default - no web ACL
   */
  firewall: v.exactOptional(
    group({
      action: rule<'count' | 'block'>("'count' or 'block'", (value) => ['count', 'block'].includes(value)),
      requestsPerMinutePerIp: limit,
      requestsPerMinutePerKey: limit,
    }),
  ),
  /** Email address that subscribes to the topics AlarmTopic and NoticeTopic. If null, only other subscribers are notified. */
  alarmEmail: v.nullable(text(/^[^\s@]+@[^\s@]+$/, 'an email address or null')),
  /**
   * Custom domain, which adds the base URL `https://{name}/v1`. The certificate must be in the stage's region. With
   * `hostedZoneId`, the stack adds a DNS record to this Route 53 zone. Without `certificateArn`, the stack also creates
   * the certificate. When all clients use the domain, set `disableDefaultEndpoint` to true in a later deployment. The
   * base URL that API Gateway assigns then stops working.
   * @default - only the base URL that API Gateway assigns
   */
  domain: v.exactOptional(
    group({
      name: text(
        /^(?=.{4,253}$)(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z][a-z\d-]{0,61}[a-z\d]$/,
        'a lowercase domain name such as api.example.com',
      ),
      certificateArn: v.exactOptional(
        text(/^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/, 'the ARN of an ACM certificate'),
      ),
      hostedZoneId: v.exactOptional(text(/^Z[A-Z\d]+$/, 'the id of a Route 53 zone such as Z0123456789ABC')),
      disableDefaultEndpoint: v.exactOptional(flag),
    }),
  ),
  /**
   * Base URL, without `/v1`, of a proxy that is in front of the API and changes the `Host` header. URLs in the headers
   * `Link` and `Location` start with this URL, also in responses to requests that do not come from the proxy. See the
   * section "Put a proxy in front" in docs/runbook.md.
   * @default - URLs start with the host and the base path that were called
   */
  publicUrl: v.exactOptional(publicUrl),
});

export type StageSettings = v.InferOutput<typeof Settings>;
export interface Stage extends StageSettings {
  name: string;
  /** Whether this deployment gives all requests to new versions at once, although the stage has `canaryDeployments`. */
  isCanaryOff?: boolean;
}

/**
 * Returns the stages to synthesize: all stages, or the ephemeral stage that `-c stage=NAME -c based-on=STAGE` defines. With
 * `-c canary=off`, new versions get all requests at once.
 *
 * @throws UsageError if the settings of a stage are invalid, stages share a domain or a public URL, NAME is missing,
 *   invalid or in use, no stage is named STAGE, or `canary` has another value
 */
export function stagesOf(all: Record<string, StageSettings>, context: Record<string, string> = {}): Stage[] {
  for (const [name, settings] of Object.entries(all)) checkStage(name, settings);
  requireDifferent(all, 'domain', ({ domain }) => domain?.name);
  requireDifferent(all, 'publicUrl', (settings) => settings.publicUrl);
  const { stage, 'based-on': basedOn, canary } = context;
  if (canary !== undefined && canary !== 'off')
    throw new UsageError(
      '`-c canary` has only the value off, which gives new versions all requests at once.',
    );
  const selected =
    stage === undefined && basedOn === undefined
      ? Object.entries(all).map(([name, settings]) => ({ ...settings, name }))
      : [ephemeralStage(all, stage, basedOn)];
  return canary === 'off' ? selected.map((one) => ({ ...one, isCanaryOff: true })) : selected;
}

/** Checks that no two stages share the value of a setting. @throws UsageError if they do */
function requireDifferent(
  all: Record<string, StageSettings>,
  setting: string,
  valueOf: (settings: StageSettings) => string | undefined,
): void {
  for (const [value, names] of Map.groupBy(Object.keys(all), (name) => valueOf(all[name]!))) {
    if (value !== undefined && names.length > 1)
      throw new UsageError(`Stages ${names.join(' and ')} must not share the ${setting} ${value}.`);
  }
}

/**
 * Returns the ephemeral stage `stage`. Its settings are those of the stage `basedOn`, except for `domain`, `publicUrl`,
 * `alarmEmail` and `retainData`.
 *
 * @throws UsageError if a name is missing or invalid, or `stage` is in `all`
 */
function ephemeralStage(all: Record<string, StageSettings>, stage?: string, basedOn?: string): Stage {
  if (!stage) throw new UsageError('Add `-c stage=NAME`, where NAME is the name of the new stage.');
  requireStageName(stage, `NAME in \`-c stage=NAME\``);
  if (Object.hasOwn(all, stage))
    throw new UsageError(`Change \`-c stage=${stage}\`, because infra/stages.ts contains this stage.`);
  if (!basedOn || !Object.hasOwn(all, basedOn))
    throw new UsageError(
      `Set \`-c based-on=STAGE\`, where STAGE is ${Object.keys(all).join(' or ')}, or remove the stage ${stage} from the ` +
        'context. The CDK also reads the context in ~/.cdk.json.',
    );
  // An ephemeral stage has no domain, because two stacks cannot create the same domain. It has no public URL, because its
  // links would lead to the stage that it is based on. Its alarms mail nobody.
  const { domain: _domain, publicUrl: _publicUrl, ...settings } = all[basedOn]!;
  return { ...settings, name: stage, alarmEmail: null, retainData: false };
}

function checkStage(stage: string, settings: StageSettings): void {
  requireStageName(stage, `The name of stage ${format(stage)} in infra/stages.ts`);
  const problem = problemOf(settings);
  if (problem !== undefined) throw new UsageError(`infra/stages.ts, stage ${stage}: ${problem}.`);
}

function problemOf(settings: StageSettings): string | undefined {
  const { issues } = v.safeParse(Settings, settings);
  if (issues)
    return issues.map((issue) => `${v.getDotPath(issue) ?? 'the stage'} ${issue.message}`).join('; ');

  const problemWithCreates = problemOfCreates(settings);
  if (problemWithCreates !== undefined) return problemWithCreates;
  const { domain } = settings;
  const reads = Math.ceil(settings.requestsPerSecond / 2);
  if (settings.maxReadUnitsPerSecond < reads)
    return `maxReadUnitsPerSecond must be at least ${reads}, because each of the requestsPerSecond can be a list, which reads at least half a read unit`;
  if (domain && !domain.certificateArn && !domain.hostedZoneId)
    return 'domain must have a certificateArn, or a hostedZoneId for a certificate that the stack creates';
  return undefined;
}

/** Write units of the largest item: up to 2 KB, in UTF-8, with its index keys. A unit is 1 KB. */
const UNITS_PER_CREATE = 2;

/**
 * Write units that one key of an index accepts per second. All items have the same key in the index `newest`.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
 */
const UNITS_OF_INDEX_KEY = 1_000;

/**
 * Checks that clients whose creates exceed the limits get a 429 of API Gateway instead of a 503 because of DynamoDB. With
 * 80% of what DynamoDB accepts as the rate and 20% as the burst, nearly no create got a 503 in simulated bursts.
 */
function problemOfCreates({ createsPerSecond, createBurst, maxWriteUnitsPerSecond }: StageSettings) {
  const units = Math.min(maxWriteUnitsPerSecond, UNITS_OF_INDEX_KEY);
  const creates = units / UNITS_PER_CREATE;
  const reason =
    units < UNITS_OF_INDEX_KEY
      ? `maxWriteUnitsPerSecond is ${units}`
      : `one key of an index accepts only ${units} write units per second (docs/decisions.md, "Lists are one query")`;
  const [rate, burst] = [Math.floor(0.8 * creates), Math.floor(0.2 * creates)];
  if (createsPerSecond > rate)
    return `createsPerSecond must be at most ${rate}, not ${createsPerSecond}, because ${reason}`;
  if (createBurst > burst)
    return `createBurst must be at most ${burst}, not ${createBurst}, because ${reason}`;
  return undefined;
}
