import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import type { Operation } from '../../shared/contract/operation.ts';
import { operations } from '../../shared/contract/operations.ts';

/** Characters beyond U+04FF that languages can treat in a special way, such as line ends, digits and white space. */
const special = '\u0660\u1680\u180e\u2000\u200b\u2028\u2029\u3000\ufeff\uff01\uff3b\ufffd\u{1f415}';
const common = Array.from({ length: 0x5_00 }, (_, codePoint) => String.fromCodePoint(codePoint));
const characters = [...common, ...Array.from(special)];
const lengths = [2, 64, 65, 254, 255, 256];

/**
 * Texts with each character at the start and later, with and without quotes and escapes, and with lengths around the
 * limits. Texts that end with a line end after another character are omitted, because `$` also matches before the line
 * end in Python, PHP and .NET (a line feed), and in Java (any line end). The omission hides nothing, because no valid
 * value contains a line end.
 */
export const texts = [
  characters
    .flatMap((one) => [one, `a${one}`, `"${one}"`, `"a${one}"`])
    .filter((text) => !/.[\n\r\u0085\u2028\u2029]$/.test(text)),
  ['', '""', '"', '"a', '"a"b', '"a"b"', '""""', 'a b', '"a b"', '\na', '"a\nb"', 'a\u2028b'],
  lengths.flatMap((length) => ['x'.repeat(length), `"${'x'.repeat(length)}"`, `"${'\\"'.repeat(length)}"`]),
  [String.raw`"\\"`, String.raw`"\"`, String.raw`"\a"`, String.raw`\"a"`],
].flat();

/** The parameters that have a pattern in openapi.json, and which of `texts` the service accepts (by index). */
export const published = Object.values<Operation>(operations).flatMap(({ path, method, request }) => {
  const { path: pathParameters, query, headers } = request as Record<string, any>;
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
