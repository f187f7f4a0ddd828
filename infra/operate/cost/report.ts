import { markdownTable } from '../markdown-table.ts';
import type { StageSettings } from '../../settings.ts';
import { type StageName, stages } from '../../stages.ts';
import { type Amounts, type Assumptions, monthlyCost, SECONDS_PER_MONTH, type Stage, sum } from './model.ts';
import { standingParts } from './parts.ts';
import { type Price, priceNames, prices, pricingPages } from './prices.ts';

const levers: [change: string, settings: Partial<StageSettings>, assumed?: Partial<Assumptions>][] = [
  ['X-Ray records 1 % of requests beyond the first of a second', {}, { tracedShare: 0.01 }],
  ['`DeprecatedCalls` without the dimension `keyId`', {}, { metricsPerApiKey: 0 }],
  ['`logRetentionDays: 90`', { logRetentionDays: 90 }],
  ['`authorizerCacheSeconds: 300`', { authorizerCacheSeconds: 300 }],
  ['`listPartitions: 4`', { listPartitions: 4 }],
];
const rates = [1, 10, 1_000];

/** Returns the cost of a month of production at steady rates, and of both stages at rest, as Markdown. */
export function costReport(): string {
  const columns = rates.map((rate) => `${rate.toLocaleString('en')}/s`);
  const production = asSynthesized('production');
  const costs = costsAtRates(production);
  const totals = costs.map(total);
  const perMillion = totals.map((dollars, index) => (dollars / (rates[index]! * SECONDS_PER_MONTH)) * 1e6);
  const savings = levers.map(([change, settings, assumed]) => {
    const changed = { ...production, settings: { ...production.settings, ...settings } };
    const changedTotals = costsAtRates(changed, assumed).map(total);
    return [change, ...totals.map((dollars, index) => money(dollars - changedTotals[index]!))];
  });
  const [atRest, stagingAtRest] = [total(monthlyCost(production, 0)), monthlyDollars('staging', 0)];
  return [
    markdownTable(
      ['Production, dollars a month', ...columns],
      [
        ...priceNames.map((name) => [title(name), ...costs.map((cost) => money(cost[name]))]),
        ['**total**', ...totals.map((dollars) => `**${money(dollars)}**`)],
        ['**for a million requests**', ...perMillion.map((dollars) => `**${money(dollars)}**`)],
      ],
    ),
    `At rest, without a request: production ${money(atRest)} a month, staging ${money(stagingAtRest)}.\n`,
    markdownTable(['What a change saves, dollars a month', ...columns], savings),
    markdownTable(
      ['Price', 'dollars', 'compared with'],
      priceNames.map((name) => [
        `[${title(name)}](${pricingPages[prices[name].service]})`,
        priceText(prices[name]),
        prices[name].seen,
      ]),
    ),
  ].join('\n');
}

function costsAtRates(stage: Stage, assumed?: Partial<Assumptions>): Amounts[] {
  return rates.map((rate) => monthlyCost(stage, rate, assumed));
}

/** Returns the US dollars of a month of a stage at a steady rate. */
export function monthlyDollars(stage: StageName, perSecond: number): number {
  return total(monthlyCost(asSynthesized(stage), perSecond));
}

function asSynthesized(stage: StageName): Stage {
  return { settings: stages[stage], parts: standingParts(stage) };
}

const total = (amounts: Amounts) => sum(Object.values(amounts));
const title = (name: keyof Amounts) => `${prices[name].service} (${prices[name].unit})`;
const money = (dollars: number) => dollars.toFixed(2);

function priceText({ dollars: price }: Price): string {
  if (typeof price === 'number') return `${price}`;
  const from = (tier: number) => (tier > 0 ? ` beyond ${price[tier - 1]![0].toLocaleString('en')}` : '');
  return price.map(([, dollars], tier) => `${dollars}${from(tier)}`).join(', ');
}
