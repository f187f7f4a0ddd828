import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { type StageSettings, stages } from '../infra/stages.ts';

const { staging, production }: Record<keyof typeof stages, StageSettings> = stages;
const number = (value: number | undefined) => value?.toLocaleString('en') ?? '';

describe('docs/interface.md', () => {
  const rows = new Map(
    readFileSync(new URL('../docs/interface.md', import.meta.url), 'utf8')
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .map(([, first = '', ...cells]) => [first, cells]),
  );
  /** Numbers with thousands separators, in the order in which they stand in the row. */
  const numbersOf = (first: string) =>
    (rows.get(first) ?? []).map((cell) => cell.match(/\d[\d,]*/g)?.join(' ') ?? '');

  test.each([
    [
      'the whole stage',
      [staging, production].map(
        ({ requestsPerSecond, requestBurst }) => `${number(requestsPerSecond)} ${number(requestBurst)}`,
      ),
    ],
    [
      'one address',
      [staging, production].map(({ firewall }) => number(firewall?.requestsPerMinutePerAddress)),
    ],
    ['one API key', [staging, production].map(({ firewall }) => number(firewall?.requestsPerMinutePerKey))],
  ])('tells the limits of %s as the stages have them', (first, limits) => {
    expect(numbersOf(first).slice(0, 2)).toEqual(limits);
  });
});
