import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Starts a server on a free port of the loopback interface. */
export async function listenOnLoopback(server: Server) {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    /** Scheme, host and port of the server. */
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
