import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { readLibrary } from '../../../../infra/documents/reference/library.ts';
import { referencePage } from '../../../../infra/documents/reference/page.ts';

const library = 'draw("<!-- <script></SCRIPT>")';
const service = { baseAddress: 'http://localhost:3000/v1', apiKey: 'secret' };
const LARGEST = '9223372036854775807';

/** An OpenAPI document with these members, written in JSON. */
function documentWith(members: string): string {
  return `{"openapi":"3.1.1","info":{"title":"Pets & <more>","version":"1"},${members}}`;
}

/** What the page has in itself for its script, with integers beyond doubles as text. */
function contentOf(html: string): any {
  const [, json = ''] = /<script id="page" type="application\/json">(.*)<\/script>/.exec(html)!;
  return JSON.parse(json, (_key, value, { source = '' }) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) ? `the number ${source}` : value,
  );
}

/** The scripts as the browser runs them. */
function scriptsOf(html: string): string[] {
  return [...html.matchAll(/<script>([^]*?)<\/script>/g)].map(([, script]) => script!);
}

describe('The page', () => {
  test('lets the browser run these scripts alone, and ask the service alone', () => {
    const { html, contentSecurityPolicy } = referencePage(documentWith('"paths":{}'), { library, service });
    const hashes = scriptsOf(html).map((script) => createHash('sha256').update(script).digest('base64'));
    expect(hashes).toHaveLength(2);
    expect(contentSecurityPolicy.split('; ')).toEqual([
      "default-src 'none'",
      `script-src 'sha256-${hashes[0]}' 'sha256-${hashes[1]}'`,
      "style-src 'unsafe-inline'",
      'img-src data:',
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
    ]);
    expect(html).toContain(`<meta http-equiv="Content-Security-Policy" content="${contentSecurityPolicy}">`);
  });

  test('lets the browser ask nobody when there is no service', () => {
    const { html, contentSecurityPolicy } = referencePage(documentWith('"servers":[{"url":"/v2"}]'), {
      library,
    });
    expect(contentSecurityPolicy).toContain("connect-src 'none'");
    const { document, apiKey } = contentOf(html);
    expect(apiKey).toBeUndefined();
    expect(document.servers).toEqual([{ url: '/v2' }]);
    expect(document.info.description).toMatch(/This page sends no requests/);
  });

  test('has the address of the service and the key', () => {
    const { document, apiKey } = contentOf(
      referencePage(documentWith('"servers":[{"url":"/v2"}]'), { library, service }).html,
    );
    expect(document.servers).toEqual([{ url: 'http://localhost:3000/v1', description: 'This machine' }]);
    expect(apiKey).toBe('secret');
    expect(document.info.description).toBeUndefined();
  });

  test.each(['</script><script>alert(1)</script>', '<!-- <script>', '\u2028\u2029', '&lt;'])(
    'takes over what is written as %j, and nothing of it as HTML',
    (text) => {
      const document = documentWith(`"tags":[{"name":${JSON.stringify(text)}}]`);
      const { html } = referencePage(document, { library, service });
      expect(contentOf(html).document.tags).toEqual([{ name: text }]);
      expect(html).not.toMatch(/[\u2028\u2029]|alert\(1\)<\/|<!--/);
      expect(html.match(/<\/?script/gi)).toHaveLength(7);
      expect(html).toContain('<title>Pets &amp; &lt;more></title>');
    },
  );

  test('runs the library as it is, whatever of HTML is written in it', () => {
    const [script] = scriptsOf(referencePage(documentWith('"paths":{}'), { library, service }).html);
    let drawn: unknown;
    runInNewContext(script!, {
      draw: (text: unknown) => {
        drawn = text;
      },
    });
    expect(drawn).toBe('<!-- <script></SCRIPT>');
  });
});

describe('An integer that the library would round', () => {
  test.each([
    ['an example of a body', `"content":{"example":{"id":${LARGEST}}}`, 'content.example'],
    ['a named example', `"examples":{"largest":{"value":{"id":${LARGEST}}}}`, 'examples.largest.value'],
  ])('is text in %s', (_case, members, path) => {
    const { document } = contentOf(referencePage(documentWith(members), { library, service }).html);
    const example: unknown = path.split('.').reduce((value, name) => value[name], document);
    expect(example).toBe(`{\n  "id": ${LARGEST}\n}`);
  });

  test('is text as an example of a parameter', () => {
    const document = documentWith(`"parameters":[{"in":"path","required":true,"example":-${LARGEST}}]`);
    const { html } = referencePage(document, { library, service });
    expect(contentOf(html).document.parameters[0].example).toBe(`-${LARGEST}`);
  });

  test('is left out as a bound, which the format says', () => {
    const schema = '"type":"integer","format":"int64"';
    const bounds = `"minimum":-9223372036854775808,"maximum":${LARGEST}`;
    const document = documentWith(`"a":{${schema},${bounds}},"b":{${schema},"minimum":1,"maximum":100}`);
    expect(contentOf(referencePage(document, { library, service }).html).document).toMatchObject({
      a: { type: 'integer', format: 'int64' },
      b: { type: 'integer', format: 'int64', minimum: 1, maximum: 100 },
    });
    expect(referencePage(document, { library, service }).html).not.toContain(LARGEST);
  });

  test('changes nothing about examples without one', () => {
    const document = documentWith(
      '"content":{"example":{"id":9007199254740991,"text":"9223372036854775807"}}',
    );
    const { html } = referencePage(document, { library, service });
    expect(contentOf(html).document.content.example).toEqual({
      id: 9_007_199_254_740_991,
      text: '9223372036854775807',
    });
  });
});

describe('The example of a parameter that may be left out', () => {
  const optional = '{"name":"cursor","in":"query","required":false,"example":"abc"}';
  const required = '{"name":"petId","in":"path","required":true,"example":7}';
  const document = documentWith(`"parameters":[${optional},${required}]`);

  test.each([
    ['that sends requests', { library, service }],
    ['to read', { library }],
  ])('is in no request and no sample of a page %s unless it is switched on', (_what, options) => {
    const { parameters } = contentOf(referencePage(document, options).html).document;
    expect(parameters).toEqual([
      {
        name: 'cursor',
        in: 'query',
        required: false,
        examples: { default: { value: 'abc', 'x-disabled': true } },
      },
      JSON.parse(required),
    ]);
  });
});

test('The library is a script that needs no module and no further file', async () => {
  const script = await readLibrary();
  expect(script).toContain('createApiReference');
  expect(script).not.toMatch(/^\s*(?:import|export)\b/m);
});
