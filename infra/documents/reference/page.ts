import { createHash } from 'node:crypto';
import { showReference } from './browser.ts';

interface ReferenceOptions {
  /** Script of Scalar's API reference. */
  library: string;
  /** Service that the page sends requests to. @default - the page is read-only */
  service?: { baseUrl: string; apiKey: string };
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><text y=".9em" font-size="90">🐾</text></svg>`;

const STYLE = `
/* Hides the outline of a section, because opening an operation focuses its section for screen readers. */
section:focus-visible { outline: none }
/* Shows the full text of the links below the title. */
.section-header-wrapper > .custom-scroll { flex-wrap: wrap; row-gap: 4px; white-space: normal }
.section-header-wrapper > .custom-scroll > * { border: 0; margin-left: 0 !important }
.icons-only span { display: inline !important }
/* Wraps the status tabs so that all tabs are visible. */
.tab-list { flex-wrap: wrap }
.tab-list .tab-selected::after { bottom: 0 }
/* Shows the complete description of a response. */
.parameter-item-description-summary .markdown { display: block; white-space: normal }
/* Prevents an invisible button from adding a line. */
.copy-link-trailing { margin-right: -32px !important }
`;

const CONFIGURATION = {
  orderRequiredPropertiesFirst: false,
  orderSchemaPropertiesBy: 'preserve',
  documentDownloadType: 'none',
  // The default text, "Selected Auth Type: bearerAuth", leaves no room for the heading, so only the type is shown.
  localization: { translations: { apiClient: { authSelector: { selectedType: '{type}' } } } },
  customCss: STYLE,
  // Disables all features that use Scalar's services.
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
};

const READ_ONLY =
  'This page is read-only. To send requests from it, run `npm start` and open the URL that it prints. ' +
  'Download the [OpenAPI document](openapi.json).';

/**
 * Renders the reference page of an OpenAPI document. The page loads no other files and sends requests only to the service
 * that serves the page.
 *
 * @returns the HTML and its content security policy, which the HTML also contains in a meta element
 */
export function referencePage(document: string, { library, service }: ReferenceOptions) {
  const content: any = JSON.parse(document, forLibrary);
  if (service) {
    content.servers = [{ url: service.baseUrl, description: 'Local service' }];
    delete content.externalDocs; // The local service does not serve this file.
  } else if (content.externalDocs) content.externalDocs.url = 'docs/interface.md';
  content.info.description += `\n\nBase URL: \`${content.servers[0].url}\`${service ? '' : `\n\n${READ_ONLY}`}`;
  const configuration = {
    ...CONFIGURATION,
    content,
    authentication: {
      preferredSecurityScheme: 'bearerAuth',
      ...(service && { securitySchemes: { bearerAuth: { token: service.apiKey } } }),
    },
    hideTestRequestButton: !service,
  };

  // In strings, templates and patterns, `\x3c` means `<`, but the HTML parser does not read it as the end of a script.
  const scripts = [library, `(${showReference.toString()})();`].map((script) =>
    script.replaceAll(/<(?=!--|\/script)/gi, String.raw`\x3c`),
  );
  const hashes = scripts.map((script) => createHash('sha256').update(script).digest('base64'));
  const contentSecurityPolicy = [
    "default-src 'none'",
    `script-src ${hashes.map((hash) => `'sha256-${hash}'`).join(' ')}`,
    "style-src 'unsafe-inline'", // The library creates its styles at run time.
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

/** Reviver for JSON.parse that adapts an OpenAPI document to Scalar's library. */
function forLibrary(key: string, part: any): unknown {
  // Limits that the library would round are removed. `format` implies the same limits.
  if (['minimum', 'maximum'].includes(key) && !Number.isSafeInteger(part)) return undefined;
  const { example, schema, description, 'x-extensible-enum': codes } = part ?? {};
  // The library does not show `x-extensible-enum`, so the codes are added to the description.
  if (codes) return { ...part, description: `${description} Known codes: \`${codes.join('`, `')}\`.` };
  if (example === undefined) return part;
  if (part.in && !part.required) {
    // Optional parameters are disabled by default, because sending the same `Idempotency-Key` or `cursor` each time causes errors.
    const { example: _, ...parameter } = part;
    return { ...parameter, examples: { default: { value: example, 'x-disabled': true } } };
  }
  // The library shows only the schema of a response header, so the example is moved. A key with a slash is a media type.
  const isHeader = schema && !part.in && !key.includes('/') && !('enum' in schema);
  return isHeader ? { ...part, schema: { ...schema, example } } : part;
}
