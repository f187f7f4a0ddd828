import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { stages, type StageSettings } from './stages.ts';

/** A setting that must be mended before anything can be synthesized; the message says how. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

type Rule = [isKept: (settings: StageSettings) => boolean, sentence: (settings: StageSettings) => string];

const rules: Rule[] = [
  ...wholeNumber('listPartitions', 1, 1_000),
  ...wholeNumber('recordedListPartitions', 1, 1_000),
  [
    ({ listPartitions, recordedListPartitions }) => listPartitions >= recordedListPartitions,
    ({ listPartitions, recordedListPartitions }) =>
      `listPartitions must not shrink below the recorded ${recordedListPartitions}, but is ${listPartitions}: pets under the keys beyond would vanish from lists.`,
  ],
  // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery_Howitworks.html
  ...wholeNumber('recoveryDays', 1, 35),
  ...wholeNumber('maxReadUnitsPerSecond', 1),
  ...wholeNumber('maxWriteUnitsPerSecond', 1),
  [
    ({ logRetentionDays }) => Object.values(RetentionDays).includes(logRetentionDays),
    ({ logRetentionDays }) =>
      `logRetentionDays must be a time that CloudWatch offers, such as 14, 30, 90 or 365, not ${logRetentionDays}.`,
  ],
  // https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
  ...wholeNumber('functionMemoryMegabytes', 128, 10_240),
  // Above what the database may take, below the 29 seconds that API Gateway waits.
  ...wholeNumber('functionTimeoutSeconds', 6, 28),
  ...wholeNumber('authorizerCacheSeconds', 0, 3_600),
  ...wholeNumber('requestsPerSecond', 1),
  ...wholeNumber('requestBurst', 1),
  [
    ({ requestsPerSecond, requestBurst }) => requestsPerSecond <= requestBurst,
    ({ requestsPerSecond, requestBurst }) =>
      `requestsPerSecond must not exceed requestBurst, but is ${requestsPerSecond} with a burst of ${requestBurst}: the rate would never be reached.`,
  ],
  [
    // https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-type-rate-based-high-level-settings.html
    ({ firewall }) => Object.values(firewall ?? {}).every((limit) => Number.isInteger(limit) && limit >= 10),
    () => 'firewall takes limits of at least 10 requests a minute.',
  ],
  [
    ({ alarmEmail }) => alarmEmail === undefined || /^[^\s@]+@[^\s@]+$/.test(alarmEmail),
    ({ alarmEmail }) => `alarmEmail must be an e-mail address, not ${alarmEmail}.`,
  ],
  [
    ({ domainName }) =>
      domainName === undefined ||
      /^(?:[a-z\d](?:[a-z\d-]*[a-z\d])?\.)+[a-z][a-z\d-]*[a-z\d]$/.test(domainName),
    ({ domainName }) =>
      `domainName must be a name in lower case without scheme or path, such as pets.example.com, not ${domainName}.`,
  ],
  [
    ({ domainName, certificateArn }) => domainName === undefined || Boolean(certificateArn),
    ({ domainName }) =>
      `certificateArn is missing: the domain ${domainName} needs a certificate from AWS Certificate Manager in the stage's region.`,
  ],
  [
    ({ domainName, hostedZoneId }) => domainName === undefined || Boolean(hostedZoneId),
    ({ domainName }) =>
      `hostedZoneId is missing: the domain ${domainName} needs the Route 53 zone that gets its records.`,
  ],
  [
    ({ domainName, certificateArn, hostedZoneId }) =>
      domainName !== undefined || (certificateArn === undefined && hostedZoneId === undefined),
    () => 'domainName is missing: certificateArn and hostedZoneId are for a domain.',
  ],
];

/**
 * Stops a synth that would deploy what cannot work or would harm.
 *
 * @throws SettingsError naming the stage, the setting and what it must be.
 */
export function checkSettings(stage: string, settings: StageSettings): void {
  if (!Object.hasOwn(stages, stage)) {
    throw new SettingsError(
      `There is no stage ${stage}: the stages are ${Object.keys(stages).join(' and ')}.`,
    );
  }
  const broken = rules.find(([isKept]) => !isKept(settings));
  if (broken) throw new SettingsError(`Stage ${stage}: ${broken[1](settings)}`);
}

type NumberSetting = {
  [K in keyof StageSettings]-?: StageSettings[K] extends number ? K : never;
}[keyof StageSettings];

function wholeNumber(name: NumberSetting, minimum: number, maximum?: number): [Rule] {
  const bounds = maximum === undefined ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  return [
    [
      ({ [name]: value }) =>
        Number.isInteger(value) && value >= minimum && (maximum === undefined || value <= maximum),
      ({ [name]: value }) => `${name} must be a whole number ${bounds}, not ${value}.`,
    ],
  ];
}
