import { createHash } from 'node:crypto';
import { type ReferencePage, showReference } from './browser.ts';

export interface ReferenceOptions {
  /** Script of the library that draws the page. */
  library: string;
  /** The service that the page may send requests to; without one it only reads. */
  service?: { baseAddress: string; apiKey: string };
}

export interface Reference {
  html: string;
  /** What the page itself demands of the browser. */
  contentSecurityPolicy: string;
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><text y=".9em" font-size="90">🐾</text></svg>`;

const READING_ONLY = `

## Trying it

This page sends no requests: the API answers pages of no other origin, and an API key does not belong into a browser. The
service on your own machine has a page that does: start it with \`npm start\`. The [OpenAPI document](openapi.json) is beside this page.
`;

/**
 * A page that shows the interface, whole in one piece: the browser itself keeps it from loading anything, and from sending
 * anything but requests to the service that it came from.
 *
 * @param document OpenAPI 3.1 as JSON.
 * @throws SyntaxError when the document is not JSON.
 */
export function referencePage(document: string, { library, service }: ReferenceOptions): Reference {
  const content = JSON.parse(document, asShown) as Document;
  if (service) content.servers = [{ url: service.baseAddress, description: 'This machine' }];
  else content.info.description = `${content.info.description ?? ''}${READING_ONLY}`;
  const page: ReferencePage = { document: content, ...(service && { apiKey: service.apiKey }) };

  const scripts = [library, `(${showReference.toString()})();`].map(escapeScript);
  const contentSecurityPolicy = [
    "default-src 'none'",
    `script-src ${scripts.map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`).join(' ')}`,
    "style-src 'unsafe-inline'", // the library makes its styles as it runs
    'img-src data:',
    `connect-src ${service ? "'self'" : "'none'"}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${contentSecurityPolicy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(content.info.title)}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">
</head>
<body>
<noscript>This page needs JavaScript.</noscript>
<div id="reference"></div>
<script id="page" type="application/json">${escapeJson(JSON.stringify(page))}</script>
${scripts.map((script) => `<script>${script}</script>`).join('\n')}
</body>
</html>
`;
  return { html, contentSecurityPolicy };
}

interface Document {
  info: { title: string; description?: string };
  servers?: { url: string; description?: string }[];
}

/** Numbers that the library would round are not shown as such: examples become their text, bounds are what `format` says. */
function asExact(key: string, value: unknown, { source = '' }: { source?: string }): unknown {
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value);
  if (isRounded && (key === 'minimum' || key === 'maximum')) return undefined;
  const exact = isRounded ? JSON.rawJSON(source) : value;
  if (key !== 'example' && key !== 'value') return exact;
  const text = JSON.stringify(exact, undefined, 2);
  return JSON.stringify(JSON.parse(text), undefined, 2) === text ? exact : text;
}

/** Sent, or copied, with every request, the example of an `Idempotency-Key` or `cursor` would do harm: it is there to be switched on. */
function asShown(key: string, value: unknown, context: { source?: string }): unknown {
  const read = asExact(key, value, context);
  if (!isOptionalParameter(read)) return read;
  const { example, ...parameter } = read;
  return { ...parameter, examples: { default: { value: example, 'x-disabled': true } } };
}

function isOptionalParameter(value: unknown): value is { in: string; example: unknown } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'in' in value &&
    'example' in value &&
    !('required' in value && value.required)
  );
}

/** A script that ends where it ends for the parser of HTML too: `\x3c` is `<` in its strings, templates and patterns. */
function escapeScript(script: string): string {
  return script.replaceAll(/<(?=!--|\/script)/gi, String.raw`\x3c`);
}

/** https://html.spec.whatwg.org/multipage/scripting.html#restrictions-for-contents-of-script-elements */
function escapeJson(json: string): string {
  return json.replaceAll(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
