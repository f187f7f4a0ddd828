// What the reference page does in the browser. Its text goes into the page: it can use nothing from outside of itself.

/** What the page finds in itself. */
export interface ReferencePage {
  /** An OpenAPI document. */
  document: unknown;
  /** API key to fill in; without one the page does not offer to send requests. */
  apiKey?: string;
}

declare const document: { getElementById: (id: string) => { textContent: string } };
declare const Scalar: { createApiReference: (selector: string, configuration: object) => void };

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

export function showReference(): void {
  const { parse } = JSON;
  const { document: content, apiKey } = parse(document.getElementById('page').textContent) as ReferencePage;

  // The library reads bodies into doubles, for its forms and its samples. An integer that these would round stays as it is
  // written; one that is changed in a form is sent as a string, which the API refuses.
  // Browsers have known rawJSON since Chrome 114, Firefox 135 and Safari 18.4.
  if ('rawJSON' in JSON) {
    Object.assign(JSON, {
      parse: (text: string, reviver?: Reviver) =>
        reviver || !/\d{16}/.test(text)
          ? parse(text, reviver!)
          : parse(text, (_key, value, { source = '' }) =>
              Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
                ? JSON.rawJSON(source)
                : value,
            ),
    });
  }

  Scalar.createApiReference('#reference', {
    content,
    authentication: {
      preferredSecurityScheme: 'apiKey',
      ...(apiKey !== undefined && { securitySchemes: { apiKey: { token: apiKey } } }),
    },
    hideTestRequestButton: apiKey === undefined,
    orderRequiredPropertiesFirst: false,
    orderSchemaPropertiesBy: 'preserve',
    documentDownloadType: 'none',
    customCss: `
      /* Going to an operation gives it the focus, for screen readers; a frame as tall as the page tells nobody anything. */
      section:focus-visible { outline: none }
      /* More statuses than fit. */
      .tab-list { padding-right: 32px; mask-image: linear-gradient(to right, #000 calc(100% - 32px), transparent) }
    `,
    // Everything that leads to services of the library's makers.
    withDefaultFonts: false,
    telemetry: false,
    proxyUrl: '',
    hideClientButton: true,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
  });
}
