import * as http from 'node:http';
import { Agent } from 'node:https';

// Like the AWS CLI and the CDK, commands use the proxy in HTTPS_PROXY, which companies often require. By default, neither
// fetch nor the SDK uses it: https://nodejs.org/docs/latest-v24.x/api/http.html#built-in-proxy-support

const { NO_PROXY = '', no_proxy: exempt = NO_PROXY } = process.env;
const proxyEnv = { ...process.env, no_proxy: [exempt, 'localhost', '127.0.0.1', '[::1]'].join() };

/** Agent for clients of the SDK. The agents that they create by default use no proxy. */
export const httpsAgent = new Agent({ keepAlive: true, proxyEnv });

/** Lets `fetch` use the proxy, except for requests to this machine. Before Node.js 24.14, this function does nothing. */
export function useProxy(): void {
  http.setGlobalProxyFromEnv?.(proxyEnv);
}
