import { expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { referencePage } from '../../infra/openapi/reference-page.ts';

const service = { baseUrl: 'http://localhost:3000/v1', apiKey: 'secret' };
const document = readFileSync('openapi.json', 'utf8');

/** The browser's objects that the page needs before it calls Swagger UI. */
const browser = {
  window: { document: { documentElement: { classList: { toggle() {} } } } },
  matchMedia: () => new EventTarget(),
};

/** Returns the text of each element named `element`. As in an HTML parser, the first end tag ends the text. */
function textsOf(element: string, html: string): string[] {
  return [...html.matchAll(new RegExp(`<${element}>([^]*?)</${element}>`, 'gi'))].map(([, text]) => text!);
}

test("the content security policy allows only the page's scripts and styles, and requests to the service", () => {
  const { html, contentSecurityPolicy } = referencePage(document, service);
  const hashes = [...textsOf('script', html), ...textsOf('style', html)].map(
    (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  );
  expect(contentSecurityPolicy.match(/'sha256-[^']+'/g)).toEqual(hashes);
  expect(contentSecurityPolicy).toMatch(/^default-src 'none'; .*; connect-src 'self';/);
  expect(contentSecurityPolicy).not.toMatch(/unsafe|https?:|\*/);
  expect(html).toContain(`<meta http-equiv="Content-Security-Policy" content="${contentSecurityPolicy}">`);
});

test("the page shows a product's name that contains markup", () => {
  const name = '</script><!-- <script>alert(1)</script> & sons';
  const { html } = referencePage(document.replace('"Pet store"', JSON.stringify(name)), service);
  const [, script = '', ...others] = textsOf('script', html);
  const titles = textsOf('title', html);
  runInNewContext(script, { ...browser, SwaggerUIBundle: ({ spec }: any) => titles.push(spec.info.title) });
  expect(titles).toEqual(['&lt;/script>&lt;!-- &lt;script>alert(1)&lt;/script> &amp; sons', name]);
  expect(others).toEqual([]);
  expect(html).not.toContain('<!--');
});
