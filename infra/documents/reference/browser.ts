// The script of the reference page. Its source text is put into the page, so it can use nothing from outside the function.

declare const document: { getElementById: (id: string) => { textContent: string } };
declare const Scalar: { createApiReference: (selector: string, configuration: object) => void };

export function showReference(): void {
  const { parse } = JSON;
  const configuration = parse(document.getElementById('configuration').textContent) as object;

  // Scalar has no setting for exact integers: its forms and its code samples call JSON.parse, which rounds integers beyond 2^53.
  // Here they keep their digits, of which a form makes text when it is edited: then the service responds with a 400.
  // Browsers support rawJSON since Chrome 114, Firefox 135 and Safari 18.4.
  if ('rawJSON' in JSON) {
    JSON.parse = (
      text: string,
      reviver = (_key: string, value: unknown, { source = '' }: { source?: string }) =>
        Number.isInteger(value) && !Number.isSafeInteger(value) ? JSON.rawJSON(source) : value,
    ) => parse(text, reviver);
  }

  Scalar.createApiReference('#reference', configuration);
}
