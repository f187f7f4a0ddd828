import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { referencePage } from '../../../../infra/documents/reference/page.ts';

const library = 'render("<!-- <script></SCRIPT>")';
const service = { baseUrl: 'http://localhost:3000/v1', apiKey: 'secret' };
const LARGEST = '9223372036854775807';
const externalDocs = '"externalDocs":{"url":"docs/interface.md"}';

function pageWith(members: string, options: { service?: typeof service } = { service }) {
  const info = '"info":{"title":"Pets & <more>","version":"1","description":"Pets."}';
  const document = `{"openapi":"3.1.1",${info},"servers":[{"url":"/v2"}],${members}}`;
  const { html, contentSecurityPolicy } = referencePage(document, { library, ...options });
  const [, json = ''] = /<script id="configuration" type="application\/json">(.*)<\/script>/.exec(html)!;
  const scripts = [...html.matchAll(/<script>([^]*?)<\/script>/g)].map(([, script]) => script!);
  return { html, contentSecurityPolicy, scripts, data: JSON.parse(json) };
}

describe('the page', () => {
  test('has a content security policy that allows only its scripts and the service', () => {
    const { html, contentSecurityPolicy, scripts } = pageWith('"paths":{}');
    const hashes = scripts.map((script) => createHash('sha256').update(script).digest('base64'));
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

  test('contains the base URL and API key of the service', () => {
    const { content, authentication, hideTestRequestButton } = pageWith(externalDocs).data;
    expect(content.servers).toEqual([{ url: 'http://localhost:3000/v1', description: 'Local service' }]);
    expect(authentication.securitySchemes).toEqual({ bearerAuth: { token: 'secret' } });
    expect(hideTestRequestButton).toBe(false);
    expect(content.info.description).toBe('Pets.\n\nBase URL: `http://localhost:3000/v1`');
    expect(content.externalDocs).toBeUndefined();
  });

  test('is read-only if there is no service', () => {
    const { contentSecurityPolicy, data } = pageWith(externalDocs, {});
    expect(contentSecurityPolicy).toContain("connect-src 'none'");
    expect(data.authentication.securitySchemes).toBeUndefined();
    expect(data.hideTestRequestButton).toBe(true);
    expect(data.content.servers).toEqual([{ url: '/v2' }]);
    expect(data.content.externalDocs).toEqual({ url: 'docs/interface.md' });
    expect(data.content.info.description).toMatch(/^Pets\.\n\nBase URL: `\/v2`\n\nThis page is read-only\./);
  });

  test.each(['</script><script>alert(1)</script>', '<!-- <script>', '&lt;'])(
    'escapes %j from the document',
    (text) => {
      const { html, data } = pageWith(`"tags":[{"name":${JSON.stringify(text)}}]`);
      expect(data.content.tags).toEqual([{ name: text }]);
      expect(html).not.toMatch(/alert\(1\)<\/|<!--/);
      expect(html.match(/<\/?script/gi)).toHaveLength(7);
      expect(html).toContain('<title>Pets &amp; &lt;more></title>');
    },
  );

  test('runs the library unchanged even if it contains HTML', () => {
    const rendered: unknown[] = [];
    runInNewContext(pageWith('"paths":{}').scripts[0]!, { render: (text: unknown) => rendered.push(text) });
    expect(rendered).toEqual(['<!-- <script></SCRIPT>']);
  });
});

test('limits that the library would round are removed', () => {
  const parts = `"x-part":{"format":"int64","minimum":-${LARGEST},"maximum":100}`;
  expect(pageWith(parts).data.content['x-part']).toEqual({ format: 'int64', maximum: 100 });
});

test('the example of an optional parameter is disabled by default on all pages', () => {
  const common = { name: 'cursor', in: 'query', required: false };
  const required = { name: 'petId', in: 'path', required: true, example: 7 };
  const parameters = `"parameters":${JSON.stringify([{ ...common, example: 'abc' }, required])}`;
  const examples = { default: { value: 'abc', 'x-disabled': true } };
  for (const options of [{ service }, {}]) {
    const { content } = pageWith(parameters, options).data;
    expect(content.parameters).toEqual([{ ...common, examples }, required]);
  }
});

describe('referencePage', () => {
  const codes = ['not_found', 'forbidden'];
  const header = { description: 'When', schema: { type: 'string' }, example: '@1' };
  const constant = { schema: { enum: ['no-store'] }, example: 'no-store' };
  const media = { schema: { type: 'object' }, example: { code: 'not_found' } };
  test.each([
    [
      'moves the codes of an extensible enum to its description',
      { description: 'Codes.', 'x-extensible-enum': codes },
      { description: 'Codes. Known codes: `not_found`, `forbidden`.', 'x-extensible-enum': codes },
    ],
    [
      'moves the example of a header to its schema',
      { Sunset: header },
      { Sunset: { ...header, schema: { type: 'string', example: '@1' } } },
    ],
    ['keeps the example of a constant', { 'Cache-Control': constant }, { 'Cache-Control': constant }],
    ['keeps the example of a body', { 'application/json': media }, { 'application/json': media }],
  ])('%s', (_case, part, shown) => {
    expect(pageWith(`"x-part":${JSON.stringify(part)}`, {}).data.content['x-part']).toEqual(shown);
  });
});
