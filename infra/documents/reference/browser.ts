// Script of the reference page. The page contains the source of `showReference`, so the function must be self-contained.

declare const document: { getElementById: (id: string) => { textContent: string } };
declare const Scalar: { createApiReference: (selector: string, configuration: object) => void };

export function showReference(): void {
  const { parse } = JSON;
  const configuration = parse(document.getElementById('configuration').textContent) as object;

  // Scalar's forms and code samples call JSON.parse, which rounds integers beyond 2^53, and Scalar has no setting for exact
  // integers. This replacement of JSON.parse keeps all digits. If a user edits an integer beyond 2^53, the form sends it as a
  // string and the service returns a 400. Browsers have supported rawJSON since Chrome 114, Firefox 135 and Safari 18.4.
  if ('rawJSON' in JSON) {
    JSON.parse = (
      text: string,
      reviver = (_key: string, value: unknown, { source = '' }: { source?: string }) =>
        Number.isInteger(value) && !Number.isSafeInteger(value) ? JSON.rawJSON(source) : value,
    ) => parse(text, reviver);
  }

  Scalar.createApiReference('#reference', configuration);
}
