/** The pricing page of each service, whose prices for us-east-1 are below: on demand, no free tier. */
export const pricingPages = {
  'API Gateway': 'https://aws.amazon.com/api-gateway/pricing/',
  Lambda: 'https://aws.amazon.com/lambda/pricing/',
  DynamoDB: 'https://aws.amazon.com/dynamodb/pricing/on-demand/',
  CloudWatch: 'https://aws.amazon.com/cloudwatch/pricing/',
  'X-Ray': 'https://aws.amazon.com/xray/pricing/',
  WAF: 'https://aws.amazon.com/waf/pricing/',
  'Data transfer': 'https://aws.amazon.com/ec2/pricing/on-demand/',
};

export interface Price {
  service: keyof typeof pricingPages;
  unit: string;
  /** US dollars a unit; in tiers, up to how many units of a month each holds. */
  dollars: number | [upTo: number, dollars: number][];
  /** What the figure was compared with, and from when that is. */
  seen: string;
}

const priceList = '2025-10-28, copy of the AWS Price List';
const transcript = '2026-09-29, transcript of the page';

// prettier-ignore
export const prices = {
  requests: { service: 'API Gateway', unit: 'million requests', dollars: [[333, 3.5], [1_000, 2.8], [20_000, 2.38], [Infinity, 1.51]], seen: priceList },
  invocations: { service: 'Lambda', unit: 'million invocations', dollars: 0.2, seen: priceList },
  duration: { service: 'Lambda', unit: 'GB-second on arm64', dollars: [[7.5e9, 0.0000133334], [18.75e9, 0.0000120001], [Infinity, 0.0000106667]], seen: priceList },
  reads: { service: 'DynamoDB', unit: 'million read request units', dollars: 0.125, seen: '2025-07-21, quoted by airbyte.com' },
  writes: { service: 'DynamoDB', unit: 'million write request units', dollars: 0.625, seen: '2025-07-21, quoted by airbyte.com' },
  storage: { service: 'DynamoDB', unit: 'GB-month of table and indexes', dollars: 0.25, seen: 'undated copy of the page' },
  recovery: { service: 'DynamoDB', unit: 'GB-month of point-in-time recovery', dollars: 0.2, seen: 'undated quotations of the page' },
  logs: { service: 'CloudWatch', unit: 'GB of log taken in', dollars: 0.5, seen: priceList },
  logStorage: { service: 'CloudWatch', unit: 'GB-month of log kept', dollars: 0.03, seen: priceList },
  metrics: { service: 'CloudWatch', unit: 'custom metric', dollars: [[10_000, 0.3], [250_000, 0.1], [1_000_000, 0.05], [Infinity, 0.02]], seen: priceList },
  alarms: { service: 'CloudWatch', unit: 'metric that an alarm watches', dollars: 0.1, seen: transcript },
  dashboards: { service: 'CloudWatch', unit: 'dashboard', dollars: 3, seen: '2026-06-13, quoted by factualminds.com' },
  contributorRules: { service: 'CloudWatch', unit: 'rule of Contributor Insights', dollars: 0.5, seen: priceList },
  traces: { service: 'X-Ray', unit: 'million traces recorded', dollars: 5, seen: 'undated copies of the page' },
  webAcls: { service: 'WAF', unit: 'web ACL', dollars: 5, seen: transcript },
  webAclRules: { service: 'WAF', unit: 'rule or managed rule group', dollars: 1, seen: transcript },
  webAclRequests: { service: 'WAF', unit: 'million requests inspected', dollars: 0.6, seen: transcript },
  transferOut: { service: 'Data transfer', unit: 'GB sent to the internet', dollars: [[10_240, 0.09], [51_200, 0.085], [153_600, 0.07], [Infinity, 0.05]], seen: priceList },
} satisfies Record<string, Price>;

export const priceNames = Object.keys(prices) as (keyof typeof prices)[];
