/** Pricing page of each service. The prices below are on-demand prices in us-east-1, without the free tier. */
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
  /** US dollars per unit. For a price with tiers, `upTo` is the upper limit of a tier in units per month. */
  dollars: number | [upTo: number, dollars: number][];
  /** Date and type of the source that confirms the price. */
  source: string;
}

const priceList = '2025-10-28, AWS Price List (copy)';
const quotation = '2025-07-21, quoted by airbyte.com';
const transcript = '2026-09-29, transcript of the page';

// prettier-ignore
export const prices = {
  requests: { service: 'API Gateway', unit: 'million requests', dollars: [[333, 3.5], [1_000, 2.8], [20_000, 2.38], [Infinity, 1.51]], source: priceList },
  invocations: { service: 'Lambda', unit: 'million invocations', dollars: 0.2, source: priceList },
  duration: { service: 'Lambda', unit: 'GB-second on arm64', dollars: [[7.5e9, 0.0000133334], [18.75e9, 0.0000120001], [Infinity, 0.0000106667]], source: priceList },
  reads: { service: 'DynamoDB', unit: 'million read request units', dollars: 0.125, source: quotation },
  writes: { service: 'DynamoDB', unit: 'million write request units', dollars: 0.625, source: quotation },
  storage: { service: 'DynamoDB', unit: 'GB-month of table and indexes', dollars: 0.25, source: 'undated copy of the pricing page' },
  recovery: { service: 'DynamoDB', unit: 'GB-month of point-in-time recovery', dollars: 0.2, source: 'undated quotations of the pricing page' },
  logs: { service: 'CloudWatch', unit: 'GB of logs ingested', dollars: 0.5, source: priceList },
  logStorage: { service: 'CloudWatch', unit: 'GB-month of logs stored', dollars: 0.03, source: priceList },
  metrics: { service: 'CloudWatch', unit: 'custom metric', dollars: [[10_000, 0.3], [250_000, 0.1], [1_000_000, 0.05], [Infinity, 0.02]], source: priceList },
  alarms: { service: 'CloudWatch', unit: 'metric watched by an alarm', dollars: 0.1, source: transcript },
  dashboards: { service: 'CloudWatch', unit: 'dashboard', dollars: 3, source: '2026-06-13, quoted by factualminds.com' },
  contributorRules: { service: 'CloudWatch', unit: 'Contributor Insights rule', dollars: 0.5, source: priceList },
  traces: { service: 'X-Ray', unit: 'million traces recorded', dollars: 5, source: 'undated copies of the pricing page' },
  webAcls: { service: 'WAF', unit: 'web ACL', dollars: 5, source: transcript },
  webAclRules: { service: 'WAF', unit: 'rule or managed rule group', dollars: 1, source: transcript },
  webAclRequests: { service: 'WAF', unit: 'million requests inspected', dollars: 0.6, source: transcript },
  transferOut: { service: 'Data transfer', unit: 'GB sent to the internet', dollars: [[10_240, 0.09], [51_200, 0.085], [153_600, 0.07], [Infinity, 0.05]], source: priceList },
} satisfies Record<string, Price>;

export const priceNames = Object.keys(prices) as (keyof typeof prices)[];
