import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { EmulatorError } from './emulator-error.ts';

/** Addresses of the loopback interface. Some machines and containers have only one of them. */
export const LOOPBACK_ADDRESSES = ['127.0.0.1', '::1'];

/** Listens on one address. Returns the port, or undefined if the machine does not have the address. */
export async function listenOn(server: Server, host: string, port: number): Promise<number | undefined> {
  try {
    await once(server.listen(port, host), 'listening');
    return (server.address() as AddressInfo).port;
  } catch (error) {
    if (['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes((error as NodeJS.ErrnoException).code!)) return undefined;
    throw error;
  }
}

/**
 * Listens on a free port of the first loopback address that the machine has. Returns the server's origin.
 *
 * @throws EmulatorError if the machine has no loopback address.
 */
export async function listenOnLoopback(server: Server): Promise<string> {
  for (const host of LOOPBACK_ADDRESSES) {
    const port = await listenOn(server, host, 0);
    if (port !== undefined) return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  }
  throw missingLoopback();
}

/** Returns the error for a machine that has no loopback address. */
export function missingLoopback(): EmulatorError {
  return new EmulatorError(
    `This machine has neither of the addresses ${LOOPBACK_ADDRESSES.join(' and ')}. Start its loopback interface, for example with ip link set lo up.`,
  );
}
