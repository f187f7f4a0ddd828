import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { asOpenApi30 } from './openapi-3.0.ts';

declare const SwaggerUIBundle: any;
declare const matchMedia: any;
declare const window: any;

const ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><text y="16">🐾</text></svg>';

/** Service that the page sends requests to. */
interface Service {
  baseUrl: string;
  apiKey: string;
}

/**
 * Renders the reference page of an OpenAPI document. The page loads no other files.
 *
 * @param document the text of openapi.json
 * @param service @default - the page is read-only
 * @returns the HTML and its content security policy, which the HTML also contains in a meta element
 */
export function referencePage(document: string, service?: Service) {
  // The page uses version 3.0, because in a page opened as a file, Swagger UI cannot resolve references of version 3.1.
  const spec = asOpenApi30(JSON.parse(document, forSwaggerUi));
  if (service) useService(spec, service);
  else makeReadOnly(spec);
  const options = service ? { apiKey: service.apiKey } : { supportedSubmitMethods: [] };

  const style = readSwaggerUi('swagger-ui.css');
  const call = `(${showReference.toString()})(${JSON.stringify({ spec, ...options })});`;
  const scripts = [readSwaggerUi('swagger-ui-bundle.js'), call].map(withoutMarkup);
  const contentSecurityPolicy = [
    "default-src 'none'",
    `script-src ${scripts.map(hashSource).join(' ')}`,
    `style-src ${hashSource(style)}`,
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

/** Returns the servers of an OpenAPI document that describes a local service. */
export function localServers(baseUrl: string) {
  return [{ url: baseUrl, description: 'Local service' }];
}

/** Changes the document so that the page sends its requests to the local service. */
function useService(spec: any, { baseUrl }: Service): void {
  spec.servers = localServers(baseUrl);
}

/** Changes the document so that the page asks for no API key, and links to the files in the page's folder. */
function makeReadOnly(spec: any): void {
  spec.externalDocs = { description: 'Guarantees, limits and compatibility', url: 'docs/api.md' };
  spec.info.description +=
    `\n\n${spec.components.securitySchemes.bearerAuth.description}\n\nThis page is read-only. To send requests, ` +
    'run `npm start` and open the URL that the command prints. Download the OpenAPI document in version ' +
    '[3.1](openapi.json) or [3.0](openapi-3.0.json).';
  delete spec.components.securitySchemes;
  delete spec.security;
}

/** Returns the text of a Swagger UI file. https://swagger.io/docs/open-source-tools/swagger-ui/usage/installation/ */
function readSwaggerUi(file: string): string {
  return readFileSync(new URL(import.meta.resolve(`swagger-ui-dist/${file}`)), 'utf8');
}

/**
 * Returns a script in which the HTML parser finds no markup. The script does the same as before, because `\x3c` means
 * `<` in strings, templates and patterns.
 */
function withoutMarkup(script: string): string {
  return script.replaceAll(/<(?=!--|\/script)/gi, String.raw`\x3c`);
}

/** Returns the source expression by which a content security policy allows an inline script or style. */
function hashSource(text: string): string {
  return `'sha256-${hash('sha256', text, 'base64')}'`;
}

/** Reviver for JSON.parse that adapts an OpenAPI document to Swagger UI. */
function forSwaggerUi(_key: string, part: any): unknown {
  // Of the parts of the document, only parameters and headers have a description and an example.
  const isParameterOrHeader = part?.description !== undefined && part.example !== undefined;
  return isParameterOrHeader ? withExampleInDescription(part) : part;
}

/**
 * Moves the example and the default of a parameter or header into its description. Otherwise, Swagger UI would send a
 * parameter's example or default with the request, and would hide a header's example.
 */
function withExampleInDescription({ description, example, schema, ...others }: any): object {
  const { default: value, ...schemaWithoutDefault } = schema;
  const texts = [description, `Example: \`${example}\`.`];
  if (value !== undefined) texts.push(`Default: \`${value}\`.`);
  return { ...others, schema: schemaWithoutDefault, description: texts.join(' ') };
}

/** Runs in the browser. The page contains the source of this function, so the function must be self-contained. */
function showReference({ apiKey, ...options }: any): void {
  // Swagger UI has colors for dark mode, but only its StandaloneLayout, which this page does not use, turns them on.
  const darkScheme = matchMedia('(prefers-color-scheme: dark)');
  const followScheme = () =>
    window.document.documentElement.classList.toggle('dark-mode', darkScheme.matches);
  darkScheme.addEventListener('change', followScheme);
  followScheme();
  const ui = SwaggerUIBundle({
    ...options,
    dom_id: '#reference',
    deepLinking: true,
    displayOperationId: true,
    showExtensions: true,
    defaultModelExpandDepth: 3,
    validatorUrl: null,
    onComplete: () => apiKey && ui.preauthorizeApiKey('bearerAuth', apiKey),
    // Swagger UI rounds integers beyond 2^53 in JSON, but shows other text unchanged. It recognizes JSON only by a
    // lowercase `content-type`, so the header is renamed. Browsers older than Chrome 114, Firefox 135 or Safari 18.4
    // have no rawJSON, so they show the JSON on one line.
    responseInterceptor(response: any) {
      const { text, headers } = response;
      const { 'content-type': type, ...others } = headers;
      const isExact = !type?.includes('json') || JSON.stringify(JSON.parse(text)) === text;
      if (isExact) return response;

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
