interface Route {
  url: string;
  handler: (request: object, reply: object) => unknown;
}

/**
 * Returns Scalar's API reference as a script for browsers.
 *
 * `@scalar/api-reference` ships the script as a file, but brings 270 packages along. This package brings 20. It has the script
 * as a string inside its module and serves it by a route, so the script is only available by calling that route's handler.
 *
 * @throws Error if the package is not installed, or does not have the route.
 */
export async function readLibrary(): Promise<string> {
  const { default: plugin } = await import('@scalar/fastify-api-reference');
  let script: unknown;
  const reply = { header: () => ({ send: (body: unknown) => body }) };
  const route = ({ url, handler }: Route) => {
    if (url.endsWith('.js')) script = handler({}, reply);
  };
  plugin({ route }, { configuration: { url: '/openapi.json' } }, () => {});
  if (typeof script !== 'string') throw new Error('@scalar/fastify-api-reference does not serve its script.');
  return script;
}
