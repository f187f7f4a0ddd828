import { markdownTable } from '../../documents/markdown-table.ts';
import { templateOf } from '../../stack/template.ts';
import { type StageName, stages } from '../../stages.ts';
import { countResources, type ResourceCounts } from './count.ts';
import { type Amounts, monthlyCost, SECONDS_PER_MONTH, sum } from './model.ts';
import { type Price, priceNames, prices, pricingPages } from './prices.ts';

/** Returns Markdown tables that contain production's monthly cost at several rates, and all prices. */
export function costReport(): string {
  const production = { settings: stages.production, parts: resourceCounts('production') };
  const rates = [1, 10, 1_000];
  const costs = rates.map((rate) => monthlyCost(production, rate));
  const totals = costs.map(total);
  const perMillion = totals.map((dollars, index) => (dollars / (rates[index]! * SECONDS_PER_MONTH)) * 1e6);
  const [atRest, stagingAtRest] = [total(monthlyCost(production, 0)), monthlyDollars('staging', 0)];
  return [
    markdownTable(
      ['Production, US dollars per month', ...rates.map((rate) => `${rate.toLocaleString('en')}/s`)],
      [
        ...priceNames.map((name) => [title(name), ...costs.map((cost) => money(cost[name]))]),
        ['**total**', ...totals.map((dollars) => `**${money(dollars)}**`)],
        ['**per million requests**', ...perMillion.map((dollars) => `**${money(dollars)}**`)],
      ],
    ),
    `Without requests, production costs $${money(atRest)} per month, and staging costs $${money(stagingAtRest)}.\n`,
    markdownTable(
      ['Price', 'US dollars per unit', 'Source'],
      priceNames.flatMap((name) => tierRows(prices[name])),
    ),
    ...Object.entries(pricingPages).map(([service, url]) => `[${service}]: ${url}`),
    '',
  ].join('\n');
}

export function resourceCounts(stage: StageName): ResourceCounts {
  return countResources(templateOf({ stage, settings: stages[stage] }));
}

export function monthlyDollars(stage: StageName, perSecond: number): number {
  return total(monthlyCost({ settings: stages[stage], parts: resourceCounts(stage) }, perSecond));
}

const total = (amounts: Amounts) => sum(Object.values(amounts));
const title = (name: keyof Amounts) => `${prices[name].service} (${prices[name].unit})`;
const money = (dollars: number) => dollars.toFixed(2);

function tierRows({ service, unit, dollars: price, source }: Price): string[][] {
  const tiers = typeof price === 'number' ? [[Infinity, price] as const] : price;
  const from = (i: number) => (i ? `, above ${tiers[i - 1]![0].toLocaleString('en')} per month` : '');
  return tiers.map(([, dollars], tier) => [`[${service}][] (${unit}${from(tier)})`, `${dollars}`, source]);
}
