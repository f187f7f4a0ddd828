/** Names of environment variables that the functions read. `tableVariable` returns those of the collections' tables. */
export const environmentVariables = {
  stage: 'STAGE',
  idempotencyTable: 'IDEMPOTENCY_TABLE',
  apiKeysTable: 'API_KEYS_TABLE',
  /** Set only if the stage has the setting `publicUrl`. */
  publicUrl: 'PUBLIC_URL',
  /** Powertools adds the value of this variable as `service` to log lines and metrics. */
  service: 'POWERTOOLS_SERVICE_NAME',
} as const;

/** Index that lists the API keys of a stage by `keyId`, which increases with time. */
export const keyIndex = { indexName: 'by-stage', partitionKey: 'stage', sortKey: 'keyId' } as const;

export const productName = 'Pet store';
/** First sentence of the OpenAPI document's description. */
export const productDescription = 'An API for the pets that a store offers.';
/**
 * Start of all API keys, in lower-case letters. It is not derived from `productName`, because a new product name must
 * not invalidate the keys that were issued before.
 */
export const keyStart = 'pets';
/** Value of the tag `service`, and start of all service names. */
export const serviceTag = productName.replaceAll(' ', '-').toLowerCase();
/** Namespace of the metrics, and start of all stack names. */
export const metricNamespace = pascalCase(productName);
/** `productName` as one word in lower case, for hosts, folders and the realm of API keys. */
export const compactName = productName.replaceAll(' ', '').toLowerCase();

/** Metrics that the functions emit besides those of `createdMetric`. Each metric also has the dimension `service`. */
export const metrics = {
  errorResponses: { name: 'ErrorResponses', dimensions: ['code'] },
  /** 5xx responses of the functions, by the version that sent them. The alarms of a canary count them. */
  versionErrors: { name: 'VersionErrors', dimensions: ['operation', 'version'] },
  /** Calls to deprecated operations. The access log shows which clients make these calls. */
  deprecatedCalls: { name: 'DeprecatedCalls', dimensions: ['operation'] },
} as const;

/**
 * Returns the metric that counts the new items of a collection. It counts the writes that DynamoDB acknowledged, but
 * not retries that find an existing item.
 */
export function createdMetric({ plural }: { plural: string }) {
  return { name: `${pascalCase(plural)}Created`, dimensions: [] } as const;
}

/** Returns the name of the environment variable with the name of a collection's table, such as `GIFT_CARDS_TABLE`. */
export function tableVariable({ plural }: { plural: string }): string {
  return `${plural.toUpperCase().replaceAll(' ', '_')}_TABLE`;
}

/** Returns words in Pascal case, such as `GiftCards` for `gift cards`, `gift-cards` or `gift_cards`. */
export function pascalCase(words: string): string {
  return words.replaceAll(/(?:^|[ _-])(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

/** Returns the name of the module in `functions/` for an operation, such as `list-books` for `listBooks`. */
export function moduleName(operationId: string): string {
  return operationId.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Returns the name of a stage's CloudFormation stack. */
export function stackName(stage: string): string {
  return `${metricNamespace}-${stage}`;
}

/** Returns the name that identifies a stage in metrics and log lines. */
export function serviceName(stage: string): string {
  return `${serviceTag}-${stage}`;
}

/** Returns the value of the environment variable `name`. @throws Error if the variable is empty or not set. */
export function requireEnvironment(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is not set.`);
  return value;
}
