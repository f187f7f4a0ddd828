import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import type { Operation } from '../../shared/contract/operation.ts';
import { operations } from '../../shared/contract/operations.ts';

/**
 * Each character, and longer texts. No text has a line feed after other characters, because in Python, Java, PHP and .NET,
 * `$` also matches before a line feed at the end.
 */
export const texts = [
  Array.from({ length: 0x11_0000 }, (_, codePoint) => codePoint)
    .filter((codePoint) => codePoint < 0xd8_00 || codePoint > 0xdf_ff)
    .map((codePoint) => String.fromCodePoint(codePoint)),
  ['', 'ab', 'a b', 'a[b]', 'a\\b', 'a"b', '\u00e91', 'x'.repeat(64), '-_', '\na', 'a\u2028b'],
  ['""', '"a"', '"a b"', '"[a]"', '"]"', '"a', 'a"', '"a"b', '"a"b"', '""""', '"\u00e9"', '"\t"', '"a\nb"'],
  [String.raw`"\""`, String.raw`"\\"`, String.raw`"\"`, String.raw`"\a"`, `"${'\\"'.repeat(255)}"`],
].flat();

/** The parameters that have a pattern in openapi.json, and which of `texts` the service accepts (by index). */
export const published = Object.values<Operation>(operations).flatMap(({ path, method, request }) => {
  const { path: pathParameters, query, headers } = request.entries as Record<string, any>;
  const schemas = { ...pathParameters?.entries, ...query?.entries, ...headers?.entries };
  const { parameters } = documentedPaths()[path.replace('/v1', '')][method.toLowerCase()];
  return parameters
    .filter(({ schema }: any) => schema.pattern !== undefined)
    .map(({ name, schema }: any): { name: string; pattern: string; accepted: number[] } => ({
      name,
      pattern: schema.pattern,
      accepted: texts.flatMap((text, index) => (v.is(schemas[name], text) ? [index] : [])),
    }));
});

function documentedPaths(): any {
  return JSON.parse(readFileSync('openapi.json', 'utf8')).paths;
}
