import { markdownTable } from '../markdown-table.ts';
import { templateOf } from '../../stack/template.ts';
import { type StageName, stages } from '../../stages.ts';
import { countResources, type ResourceCounts } from './count.ts';
import { type Amounts, monthlyCost, SECONDS_PER_MONTH, sum } from './model.ts';
import { type Price, priceNames, prices, pricingPages } from './prices.ts';

/** Returns the cost of a month of production at steady rates, and of both stages at rest, as Markdown. */
export function costReport(): string {
  const production = { settings: stages.production, parts: resourceCounts('production') };
  const rates = [1, 10, 1_000];
  const costs = rates.map((rate) => monthlyCost(production, rate));
  const totals = costs.map(total);
  const perMillion = totals.map((dollars, index) => (dollars / (rates[index]! * SECONDS_PER_MONTH)) * 1e6);
  const [atRest, stagingAtRest] = [total(monthlyCost(production, 0)), monthlyDollars('staging', 0)];
  return [
    markdownTable(
      ['Production, dollars a month', ...rates.map((rate) => `${rate.toLocaleString('en')}/s`)],
      [
        ...priceNames.map((name) => [title(name), ...costs.map((cost) => money(cost[name]))]),
        ['**total**', ...totals.map((dollars) => `**${money(dollars)}**`)],
        ['**for a million requests**', ...perMillion.map((dollars) => `**${money(dollars)}**`)],
      ],
    ),
    `At rest, without a request: production ${money(atRest)} a month, staging ${money(stagingAtRest)}.\n`,
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

/** Counts the parts of a stage's template. */
export function resourceCounts(stage: StageName): ResourceCounts {
  return countResources(templateOf({ stage, settings: stages[stage] }));
}

/** Returns the US dollars of a month of a stage at a steady rate. */
export function monthlyDollars(stage: StageName, perSecond: number): number {
  return total(monthlyCost({ settings: stages[stage], parts: resourceCounts(stage) }, perSecond));
}

const total = (amounts: Amounts) => sum(Object.values(amounts));
const title = (name: keyof Amounts) => `${prices[name].service} (${prices[name].unit})`;
const money = (dollars: number) => dollars.toFixed(2);

function priceText({ dollars: price }: Price): string {
  if (typeof price === 'number') return `${price}`;
  const from = (tier: number) => (tier > 0 ? ` beyond ${price[tier - 1]![0].toLocaleString('en')}` : '');
  return price.map(([, dollars], tier) => `${dollars}${from(tier)}`).join(', ');
}
