interface Route {
  url: string;
  handler: (request: undefined, reply: Reply) => void;
}

interface Reply {
  header: () => Reply;
  send: (body: string) => void;
}

/**
 * The script of Scalar's API reference for browsers. Its own package brings 270 others along; this one, meant for servers of
 * the framework Fastify, has the same script among the routes that it registers.
 *
 * @throws Error when the package is not installed.
 */
export async function readLibrary(): Promise<string> {
  const { default: register } = await import('@scalar/fastify-api-reference');
  const routes: Route[] = [];
  const fastify = { route: (route: Route) => routes.push(route) };
  (register as unknown as Register)(fastify, { configuration: { url: '/openapi.json' } }, () => {});

  let script = '';
  const reply: Reply = {
    header: () => reply,
    send: (body) => {
      script = body;
    },
  };
  routes.find(({ url }) => url.endsWith('.js'))?.handler(undefined, reply);
  if (!script) throw new Error('@scalar/fastify-api-reference has no route for its script.');
  return script;
}

type Register = (
  fastify: { route: (route: Route) => void },
  options: { configuration: { url: string } },
  done: () => void,
) => void;
