import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

declare const SwaggerUIBundle: any;

const ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><text y="16">🐾</text></svg>';

/**
 * Renders the reference page of an OpenAPI document. The page loads no other files.
 *
 * @param document OpenAPI 3.0 in JSON, because Swagger UI cannot resolve 3.1 references in a page opened as a file
 * @param service service that the page sends requests to @default - the page is read-only
 * @returns the HTML and its content security policy, which the HTML also contains in a meta element
 */
export function referencePage(document: string, service?: { baseUrl: string; apiKey: string }) {
  const spec: any = JSON.parse(document, forLibrary);
  if (service) {
    spec.servers = [{ url: service.baseUrl, description: 'Local service' }];
    delete spec.externalDocs; // The local service does not serve this file.
  } else {
    spec.externalDocs.url = 'docs/interface.md';
    spec.info.description +=
      `\n\n${spec.components.securitySchemes.bearerAuth.description}\n\nThis page is read-only. To send requests, ` +
      'run `npm start` and open the URL that the command prints. Download the [OpenAPI document](openapi.json).';
    delete spec.components.securitySchemes; // Otherwise, the page asks for an API key.
    delete spec.security;
  }
  const options = service ? { apiKey: service.apiKey } : { supportedSubmitMethods: [] };

  const style = readLibrary('swagger-ui.css');
  const call = `(${showReference.toString()})(${JSON.stringify({ spec, ...options })});`;
  // In strings, templates and patterns, `\x3c` means `<`, but the HTML parser does not read it as markup.
  const scripts = [readLibrary('swagger-ui-bundle.js'), call].map((script) =>
    script.replaceAll(/<(?=!--|\/script)/gi, String.raw`\x3c`),
  );
  const contentSecurityPolicy = [
    "default-src 'none'",
    `script-src ${scripts.map(sourceOf).join(' ')}`,
    `style-src ${sourceOf(style)}`,
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
<title>${spec.info.title.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">
<style>${style}</style>
</head>
<body>
<noscript>This page needs JavaScript.</noscript>
<div id="reference"></div>
${scripts.map((script) => `<script>${script}</script>`).join('\n')}
</body>
</html>
`;
  return { html, contentSecurityPolicy };
}

/** Returns the text of a Swagger UI file. https://swagger.io/docs/open-source-tools/swagger-ui/usage/installation/ */
function readLibrary(file: string): string {
  return readFileSync(new URL(import.meta.resolve(`swagger-ui-dist/${file}`)), 'utf8');
}

function sourceOf(text: string): string {
  return `'sha256-${hash('sha256', text, 'base64')}'`;
}

/** Reviver for JSON.parse that adapts an OpenAPI document to Swagger UI. */
function forLibrary(key: string, part: any): unknown {
  // Limits that the library would round are removed. `format` implies the same limits.
  if (['minimum', 'maximum'].includes(key) && !Number.isSafeInteger(part)) return undefined;
  const { description, example, schema, ...others } = part ?? {};
  if (description === undefined || example === undefined) return part;
  // Moves examples and defaults into the description. Otherwise, the library would send a parameter's example or default
  // with the request, and would hide a header's example.
  const { default: value, ...typed } = schema;
  const texts = [`Example: \`${example}\`.`, ...(value === undefined ? [] : [`Default: \`${value}\`.`])];
  return { ...others, schema: typed, description: [description, ...texts].join(' ') };
}

/** Runs in the browser. The page contains the source of this function, so the function must be self-contained. */
function showReference({ apiKey, ...options }: any): void {
  const ui = SwaggerUIBundle({
    ...options,
    dom_id: '#reference',
    deepLinking: true,
    displayOperationId: true,
    showExtensions: true,
    defaultModelExpandDepth: 3,
    validatorUrl: null,
    onComplete: () => apiKey && ui.preauthorizeApiKey('bearerAuth', apiKey),
    // The library rounds integers beyond 2^53 in JSON, but shows other text unchanged. It recognizes JSON only by a
    // lowercase `content-type`, so the header is renamed. rawJSON requires Chrome 114, Firefox 135 or Safari 18.4.
    responseInterceptor(response: any) {
      const { text, headers } = response;
      const { 'content-type': type, ...others } = headers;
      if (!type?.includes('json') || JSON.stringify(JSON.parse(text)) === text) return response;
      response.headers = { ...others, 'CONTENT-TYPE': type };
      if ('rawJSON' in JSON) {
        const exact = JSON.parse(text, (_key, value, { source = '' }) =>
          typeof value === 'number' ? JSON.rawJSON(source) : value,
        );
        response.text = JSON.stringify(exact, null, 2);
      }
      return response;
    },
  });
}
