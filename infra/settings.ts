import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { collections } from '../shared/contract/operations.ts';
import { requireStageName, UsageError } from './command.ts';

/** Settings of a stage. `npx cdk synth` checks their types and values. */
export interface StageSettings {
  /** Whether the stack and its tables are protected from deletion. If so, tables and logs outlive the stack. */
  retainData: boolean;
  /**
   * Recovery period of point-in-time recovery, from 1 to 35 days.
   * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery_Howitworks.html
   */
  recoveryDays: number;
  /** Maximum throughput of each table and each index. These limits cap the cost that a runaway client can cause. */
  maxReadUnitsPerSecond: number;
  maxWriteUnitsPerSecond: number;
  /**
   * Throughput that the tables and indexes of items and the table of idempotency records support without growing first.
   * AWS charges once for each increase, and the values cannot be lowered.
   * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput.html
   * @default - 12,000 read units and 4,000 write units, or what the traffic has reached so far
   */
  warmThroughput?: { readUnitsPerSecond: number; writeUnitsPerSecond: number };
  /**
   * Days for which CloudWatch retains logs, such as 14, 30 or 365.
   * https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
   */
  logRetentionDays: RetentionDays;
  /** Timeout of each function: longer than a throttled database call (7.5 s), shorter than API Gateway's timeout (29 s). */
  functionTimeoutSeconds: number;
  /** Time for which API Gateway caches the authorizer's result. A revoked key can keep working for this long. */
  authorizerCacheSeconds: number;
  /**
   * Whether API Gateway and the functions record traces in AWS X-Ray. X-Ray then charges for the first request of each
   * second and for 5% of the others. Anyone, even without an API key, can have every request recorded, with the header
   * `X-Amzn-Trace-Id: Root=…;Sampled=1`. API Gateway may record such requests even if this is false, but the functions have
   * no permission to.
   * https://docs.aws.amazon.com/xray/latest/devguide/xray-services-apigateway.html
   */
  tracing: boolean;
  /** Whether CodeDeploy gives new versions of the functions only 10% of the requests for the first 10 minutes. */
  canaryDeployments: boolean;
  /**
   * Rate and burst of the token bucket of each API method that only reads. Requests above the limits get a 429 on
   * a best-effort basis.
   * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-request-throttling.html
   */
  requestsPerSecond: number;
  requestBurst: number;
  /**
   * Rate and burst of each method that writes items, in place of the two settings above. `problemsOf` limits them to what
   * DynamoDB accepts from one method.
   */
  createsPerSecond: number;
  createBurst: number;
  /**
   * Web ACL with approximate request limits for each IP address and each API key. A change to a limit resets the counts.
   * If `action` is `count`, the web ACL only counts and logs the requests that it would otherwise block.
   * https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-type-rate-based-caveats.html
   * @default - no web ACL
   */
  firewall?: { action: 'count' | 'block'; requestsPerMinutePerIp: number; requestsPerMinutePerKey: number };
  /** Email address that subscribes to the topics AlarmTopic and NoticeTopic. If null, only other subscribers are notified. */
  alarmEmail: string | null;
  /**
   * Custom domain, which adds the base URL `https://{name}/v1`. The certificate must be in the stage's region. With
   * `hostedZoneId`, the stack adds a DNS record to this Route 53 zone. Without `certificateArn`, the stack also creates
   * the certificate. When all clients use the domain, set `disableDefaultEndpoint` to true in a later deployment. The
   * base URL that API Gateway assigns then stops working.
   * @default - only the base URL that API Gateway assigns
   */
  domain?: { name: string; certificateArn?: string; hostedZoneId?: string; disableDefaultEndpoint?: boolean };
  /**
   * Base URL, without `/v1`, of a proxy that is in front of the API and changes the `Host` header. URLs in the headers
   * `Link` and `Location` start with this URL, also in responses to requests that do not come from the proxy. See the
   * section "Put a proxy in front" in docs/operate.md.
   * @default - URLs start with the host and the base path that were called
   */
  publicUrl?: string;
}

/** A stage with its name. */
export interface Stage extends StageSettings {
  name: string;
  /** Whether this deployment gives all requests to new versions at once, although the stage has `canaryDeployments`. */
  isCanaryOff?: boolean;
}

/**
 * Returns the stages to synthesize: all stages, or the ephemeral stage that `-c stage=NAME -c based-on=STAGE` defines. With
 * `-c canary=off`, new versions get all requests at once.
 *
 * @throws UsageError if the settings of a stage are invalid, NAME is missing, invalid or in use,
 *   no stage is named STAGE, or `canary` has another value
 */
export function stagesOf(all: Record<string, StageSettings>, context: Record<string, string> = {}): Stage[] {
  for (const [name, settings] of Object.entries(all)) checkStage(name, settings);
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

/** Settings that AWS accepts with values that stop the stage, or rejects only during the deployment. */
const ranges: [name: keyof StageSettings, least: number, most: number][] = [
  ['recoveryDays', 1, 35],
  ['maxReadUnitsPerSecond', 1, 1e9],
  ['maxWriteUnitsPerSecond', 1, 1e9],
  // A throttled database call takes up to 7.5 s, and API Gateway waits for 29 s.
  ['functionTimeoutSeconds', 8, 28],
  ['authorizerCacheSeconds', 0, 3_600],
  ['requestsPerSecond', 1, 1e9],
  ['requestBurst', 1, 1e9],
  ['createsPerSecond', 1, 1e9],
  ['createBurst', 1, 1e9],
];

/** Write units of the largest item: up to 2 KB, in UTF-8, with its index keys. A unit is 1 KB. */
const UNITS_PER_CREATE = 2;

/**
 * Write units that one key of an index accepts per second. All items have the same key in the index `newest`.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
 */
const UNITS_OF_INDEX_KEY = 1_000;

/** @throws UsageError that names the stage, each wrong setting and what would be right */
function checkStage(stage: string, settings: StageSettings): void {
  requireStageName(stage, `The name of stage '${stage}' in infra/stages.ts`);
  const problems = problemsOf(settings);
  if (problems.length > 0) throw new UsageError(`infra/stages.ts, stage ${stage}: ${problems.join('; ')}.`);
}

function problemsOf(settings: StageSettings): string[] {
  const { createsPerSecond, createBurst, requestsPerSecond, domain, publicUrl, alarmEmail } = settings;
  const { maxReadUnitsPerSecond: readUnits, maxWriteUnitsPerSecond: writeUnits } = settings;
  const problems = ranges.flatMap(([name, least, most]) => {
    const value = settings[name] as number;
    if (Number.isInteger(value) && value >= least && value <= most) return [];
    return [
      `${name} must be an integer ${most < 1e9 ? `from ${least} to ${most}` : `of at least ${least}`}, not ${value}`,
    ];
  });
  const resources = collections.map(({ plural }) => plural).join(' or ');

  // Clients whose creates exceed the limits get a 429 of API Gateway instead of a 503 because of DynamoDB. With 80% of what
  // DynamoDB accepts as the rate and 20% as the burst, nearly no create got a 503 in simulated bursts.
  const units = Math.min(writeUnits, UNITS_OF_INDEX_KEY);
  const limit =
    units < UNITS_OF_INDEX_KEY
      ? `write units of maxWriteUnitsPerSecond`
      : 'write units per second that one key of an index accepts (docs/decisions.md, "Lists are one query")';
  const shares = [
    ['createsPerSecond', createsPerSecond, 80],
    ['createBurst', createBurst, 20],
  ] as const;
  for (const [name, value, percent] of shares) {
    const most = Math.floor((percent * units) / 100 / UNITS_PER_CREATE);
    if (value > most)
      problems.push(
        `${name} must be at most ${most}, not ${value}, because a create of ${resources} takes ${UNITS_PER_CREATE} write units, and ${name} can use ${percent}% of the ${units} ${limit}`,
      );
  }

  const reads = Math.ceil(requestsPerSecond / 2);
  if (readUnits < reads)
    problems.push(
      `maxReadUnitsPerSecond must be at least ${reads}, not ${readUnits}, because each of the requestsPerSecond can be a list of ${resources}, which reads at least half a read unit`,
    );
  if (domain && !domain.certificateArn && !domain.hostedZoneId)
    problems.push(
      `domain must have a certificateArn, or a hostedZoneId for a certificate of ${domain.name} that the stack creates`,
    );
  if (publicUrl !== undefined && !isPublicUrl(publicUrl))
    // The message does not quote the value, because the value can contain a password.
    problems.push(
      'publicUrl must be the https URL of the proxy in lowercase, such as https://api.example.com/pet-store, without a user name, query, fragment, slash at its end or /v1, because the headers Link and Location start with it',
    );
  if (alarmEmail !== null && !/^[^\s@]+@[^\s@]+$/.test(alarmEmail))
    problems.push(`alarmEmail must be an email address or null, not ${alarmEmail}`);
  return problems;
}

/** Returns whether a URL can be followed by `/v1` in a `Link` header, in which a character such as `>` would end the URL. */
function isPublicUrl(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === 'https:' && text === url.href.replace(/\/$/, '') && !/[?#@]|\/v1$/.test(text);
}
