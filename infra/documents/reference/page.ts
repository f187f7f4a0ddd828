import { createHash } from 'node:crypto';
import { showReference } from './browser.ts';

interface ReferenceOptions {
  /** Script of Scalar's API reference. */
  library: string;
  /** The service that the page sends requests to. If omitted, the page is read-only. */
  service?: { baseUrl: string; apiKey: string };
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><text y=".9em" font-size="90">🐾</text></svg>`;

const STYLE = `
/* Opening an operation moves the focus to it, for screen readers; an outline around the whole section has no use. */
section:focus-visible { outline: none }
/* The links beside the title keep their texts, on as many lines as they need. */
.section-header-wrapper > .custom-scroll { flex-wrap: wrap; row-gap: 4px; white-space: normal }
.section-header-wrapper > .custom-scroll > * { border: 0; margin-left: 0 !important }
.icons-only span { display: inline !important }
/* All statuses, on as many lines as they need. */
.tab-list { flex-wrap: wrap }
.tab-list .tab-selected::after { bottom: 0 }
/* The whole description of a response, on as many lines as it needs. */
.parameter-item-description-summary .markdown { display: block; white-space: normal }
/* An invisible button must not add a line. */
.copy-link-trailing { margin-right: -32px !important }
`;

const CONFIGURATION = {
  orderRequiredPropertiesFirst: false,
  orderSchemaPropertiesBy: 'preserve',
  documentDownloadType: 'none',
  // "Selected Auth Type: bearerAuth" leaves no room for the heading.
  localization: { translations: { apiClient: { authSelector: { selectedType: '{type}' } } } },
  customCss: STYLE,
  // Disables everything that leads to Scalar's own services.
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
};

const READ_ONLY = `
## Trying it

This page sends no requests: the API does not allow pages of other origins to call it, and an API key does not belong in a browser.
To try requests, run the service on your own machine with \`npm start\`, and open its address. The
[OpenAPI document](openapi.json) is next to this page.
`;

/**
 * Returns a page that shows an OpenAPI document in JSON. The browser loads nothing else, and sends requests only to the
 * service that the page came from.
 *
 * @returns its HTML, and the policy that is also in a meta element of it
 */
export function referencePage(document: string, { library, service }: ReferenceOptions) {
  const content: any = JSON.parse(document, forLibrary);
  if (service) {
    content.servers = [{ url: service.baseUrl, description: 'This machine' }];
    delete content.externalDocs; // the service does not serve them
  } else {
    if (content.externalDocs) content.externalDocs.url = 'docs/interface.md';
    content.info.description = `${content.info.description}\n\n${READ_ONLY}`;
  }
  const configuration = {
    ...CONFIGURATION,
    content,
    authentication: {
      preferredSecurityScheme: 'bearerAuth',
      ...(service && { securitySchemes: { bearerAuth: { token: service.apiKey } } }),
    },
    hideTestRequestButton: !service,
  };

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
<script id="configuration" type="application/json">${JSON.stringify(configuration).replaceAll('<', String.raw`\u003c`)}</script>
${scripts.map((script) => `<script>${script}</script>`).join('\n')}
</body>
</html>
`;
  return { html, contentSecurityPolicy };
}

/** Reviver for JSON.parse that adapts an OpenAPI document to the library. */
function forLibrary(key: string, part: any): unknown {
  // The library would round it. `format` says the same.
  if (['minimum', 'maximum'].includes(key) && !Number.isSafeInteger(part)) return undefined;
  // What the library ignores moves to a place that it renders.
  const { example, schema, description, 'x-extensible-enum': codes } = part ?? {};
  if (codes) return { ...part, description: `${description} Known: \`${codes.join('`, `')}\`.` };
  if (example === undefined) return part;
  if (part.in && !part.required) {
    // Sent or copied with every request, the example of an `Idempotency-Key` or `cursor` would do harm, so it is off by default.
    const { example: _, ...parameter } = part;
    return { ...parameter, examples: { default: { value: example, 'x-disabled': true } } };
  }
  // Of a response's header the library shows the schema alone. A key with a slash is a media type.
  const isHeader = schema && !part.in && !key.includes('/') && !('enum' in schema);
  return isHeader ? { ...part, schema: { ...schema, example } } : part;
}
