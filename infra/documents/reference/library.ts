/**
 * Returns Scalar's API reference as a script for browsers. `@scalar/api-reference` ships it as a file, with 270 packages.
 * This package brings 20, and has the script only as a string behind a route, whose handler is called here.
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
