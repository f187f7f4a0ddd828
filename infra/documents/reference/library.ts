/**
 * Returns the browser script of Scalar's API reference. `@scalar/api-reference` contains the script but has 270
 * dependencies. `@scalar/fastify-api-reference` has only 20, so this function gets the script from its route handler.
 */
export async function readLibrary(): Promise<string> {
  const { default: plugin } = await import('@scalar/fastify-api-reference');
  let script: unknown;
  const reply = { header: () => ({ send: (body: unknown) => body }) };
  const route = ({ url, handler }: any) => {
    if (url.endsWith('.js')) script = handler({}, reply);
  };
  plugin({ route }, { configuration: { url: '/openapi.json' } }, () => {});
  if (typeof script !== 'string') throw new Error('@scalar/fastify-api-reference does not serve its script.');
  return script;
}
