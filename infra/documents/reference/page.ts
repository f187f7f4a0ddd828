import { createHash } from 'node:crypto';
import { type ReferencePage, showReference } from './browser.ts';

export interface ReferenceOptions {
  /** Script of Scalar's API reference. */
  library: string;
  /** The service that the page sends requests to. If omitted, the page is read-only. */
  service?: { baseAddress: string; apiKey: string };
}

export interface Reference {
  html: string;
  /** The policy that is also in a meta element of the page. */
  contentSecurityPolicy: string;
}

interface Document {
  info: { title: string; description?: string };
  externalDocs?: object;
  servers?: { url: string; description?: string }[];
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><text y=".9em" font-size="90">🐾</text></svg>`;

const READ_ONLY = `

## Trying it

This page sends no requests: the API does not answer to pages of other origins, and an API key does not belong in a browser. The
service on your own machine has a page that does: start it with \`npm start\`. The [OpenAPI document](openapi.json) is next to this page.
`;

/**
 * Returns a page that shows an OpenAPI document in JSON. The browser loads nothing else, and sends requests only to the
 * service that the page came from.
 */
export function referencePage(document: string, { library, service }: ReferenceOptions): Reference {
  const content = JSON.parse(document, forLibrary) as Document;
  if (service) {
    content.servers = [{ url: service.baseAddress, description: 'This machine' }];
    // Its URL is relative to the document, next to which the service has no files.
    delete content.externalDocs;
  } else content.info.description = `${content.info.description ?? ''}${READ_ONLY}`;
  const page: ReferencePage = { document: content, ...(service && { apiKey: service.apiKey }) };

  // `\x3c` is `<` in the strings, templates and patterns of a script, and does not end it for the parser of HTML.
  const scripts = [library, `(${showReference.toString()})();`].map((script) =>
    script.replaceAll(/<(?=!--|\/script)/gi, String.raw`\x3c`),
  );
  const hashes = scripts.map((script) => createHash('sha256').update(script).digest('base64'));
  const contentSecurityPolicy = [
    "default-src 'none'",
    `script-src ${hashes.map((hash) => `'sha256-${hash}'`).join(' ')}`,
    "style-src 'unsafe-inline'", // the library creates its styles at run time
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
<title>${content.info.title.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">
</head>
<body>
<noscript>This page needs JavaScript.</noscript>
<div id="reference"></div>
<script id="page" type="application/json">${JSON.stringify(page).replaceAll('<', String.raw`\u003c`)}</script>
${scripts.map((script) => `<script>${script}</script>`).join('\n')}
</body>
</html>
`;
  return { html, contentSecurityPolicy };
}

/** Reviver for JSON.parse that adapts an OpenAPI document to the library. */
function forLibrary(key: string, value: unknown, { source = '' }: { source?: string }): unknown {
  if (isOptionalParameter(value)) {
    // Sent or copied with every request, the example of an `Idempotency-Key` or `cursor` would do harm, so it is off by default.
    const { example, ...parameter } = value;
    return { ...parameter, examples: { default: { value: example, 'x-disabled': true } } };
  }
  // The library would round the integer. `format` says the same as its bounds; an example that contains it becomes text.
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value);
  if (isRounded && (key === 'minimum' || key === 'maximum')) return undefined;
  const exact = isRounded ? JSON.rawJSON(source) : value;
  if (key !== 'example' && key !== 'value') return exact;
  const text = JSON.stringify(exact, undefined, 2);
  return JSON.stringify(JSON.parse(text), undefined, 2) === text ? exact : text;
}

function isOptionalParameter(value: unknown): value is { in: string; example: unknown } {
  if (typeof value !== 'object' || value === null || !('in' in value && 'example' in value)) return false;
  return !('required' in value && value.required);
}
