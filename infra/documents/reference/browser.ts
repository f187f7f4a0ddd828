// Script of the reference page. The page contains the source of `showReference`, so the function must be self-contained.

declare const document: any;
declare const SwaggerUIBundle: any;

export function showReference(): void {
  const { apiKey, ...options } = JSON.parse(document.getElementById('configuration').textContent);
  const ui = SwaggerUIBundle({
    ...options,
    dom_id: '#reference',
    onComplete: () => apiKey && ui.preauthorizeApiKey('bearerAuth', apiKey),
    // The library rounds integers beyond 2^53 in JSON, but shows text as it is. It reads the media type only from headers in
    // small letters. Browsers have supported rawJSON since Chrome 114, Firefox 135 and Safari 18.4.
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
