import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { asOpenApi30 } from '../../infra/openapi/openapi-3.0.ts';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import { hasTools, toolModules } from '../support/tools.ts';

const published = readFileSync('openapi.json', 'utf8');

(hasTools() ? describe : describe.skip)('after npm ci --prefix test/tools,', () => {
  // Each version of OpenAPI has its own rules, so the linter checks both documents. For example, only 3.1 allows a schema to
  // have several types.
  test.each([
    ['3.1.0', published],
    ['3.0.3', stringifyJson(asOpenApi30(parseJson(published)))],
  ])('the document has no linter errors as OpenAPI %s', async (_version, source) => {
    const { createConfig, lintFromString } = await import(
      pathToFileURL(`${toolModules}/@redocly/openapi-core/lib/index.js`).href
    );
    const config = await createConfig({ extends: ['recommended-strict'] });
    const problems: any[] = await lintFromString({ source, config });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });
});
