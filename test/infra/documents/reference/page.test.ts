import { expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { referencePage } from '../../../../infra/documents/reference/page.ts';

const service = { baseUrl: 'http://localhost:3000/v1', apiKey: 'secret' };
const document = readFileSync('openapi.json', 'utf8');

/** Returns the texts of the elements with a name, as an HTML parser reads them. */
function textsOf(element: string, html: string): string[] {
  return [...html.matchAll(new RegExp(`<${element}>([^]*?)</${element}>`, 'gi'))].map(([, text]) => text!);
}

test('the content security policy allows only the scripts and styles of the page, and requests to its service', () => {
  const { html, contentSecurityPolicy } = referencePage(document, service);
  const hashes = [...textsOf('script', html), ...textsOf('style', html)].map(
    (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  );
  expect(hashes).toHaveLength(3);
  expect(contentSecurityPolicy.split('; ')).toEqual([
    "default-src 'none'",
    `script-src ${hashes[0]} ${hashes[1]}`,
    `style-src ${hashes[2]}`,
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ]);
  expect(html).toContain(`<meta http-equiv="Content-Security-Policy" content="${contentSecurityPolicy}">`);
});

test.each(['</script><script>alert(1)</script>', '<!-- <script>', '&lt;'])('escapes %j', (text) => {
  const { html } = referencePage(document.replace('"Pet store"', JSON.stringify(text)), service);
  const [, json = ''] = /<script id="configuration" type="application\/json">(.*)<\/script>/.exec(html)!;
  expect(JSON.parse(json).spec.info.title).toBe(text);
  expect(html.match(/<\/script/gi)).toHaveLength(3);
  expect(html).not.toContain('<!--');
  const [title = ''] = textsOf('title', html);
  expect(title.replaceAll('&lt;', '<').replaceAll('&amp;', '&')).toBe(text);
});
