import type { Context } from 'aws-lambda';
import { inspect } from 'node:util';
import { createApiGateway } from '../../infra/local/emulator/gateway/api-gateway.ts';
import type { HttpResponse } from '../../infra/local/emulator/gateway/http-message.ts';
import type { LambdaFunction } from '../../infra/local/emulator/lambda/lambda.ts';
import type { Template } from '../../infra/local/emulator/template/template.ts';
import { type ChooseFault, startFaultProxy } from './fault-proxy.ts';
import type { OutgoingRequest } from './http.ts';
import { handlerOf } from './invoke.ts';
import { shortId } from './logical-ids.ts';
import { setFunctionsEnvironment, startTables } from './real-database.ts';

export interface Request {
  method?: string;
  /** Path and query, such as '/v1/books?limit=5'. */
  target: string;
  headers?: Record<string, string>;
  body?: string;
}

type Handler = (event: any, context: Context) => Promise<any>;

/**
 * Starts a stage's API with an in-memory database. `chooseFault` chooses the fault for each database call. The
 * functions run in this process and accept any number of concurrent requests, so tests do not wait for Lambda instances.
 * Call this function only once per process, because the SDK keeps its first endpoint.
 */
export async function startFaultyService(template: Template, chooseFault: ChooseFault = () => undefined) {
  const tables = await startTables(template);
  let isReady = false;
  const proxy = await startFaultProxy(tables.endpoint, (...call) =>
    isReady ? chooseFault(...call) : undefined,
  );
  setFunctionsEnvironment(template, proxy.endpoint);
  Object.assign(process.env, { POWERTOOLS_LOG_LEVEL: 'SILENT', POWERTOOLS_METRICS_DISABLED: 'true' });

  // The imports below must follow the assignments, because the modules read the environment when they are imported.
  const { database } = await import('../../shared/storage/database.ts');
  const handlers: Record<string, Handler> = {};
  const functions = new Map<string, LambdaFunction>();
  for (const { logicalId, properties } of template.resources('AWS::Lambda::Function')) {
    const name = shortId(logicalId);
    handlers[name] = await handlerOf(name);
    const invoke = invokerOf((...call) => handlers[name]!(...call), properties.Timeout);
    functions.set(logicalId, { invoke });
  }
  const api = createApiGateway(template, functions);
  function handle({ method, target, headers, body = '' }: OutgoingRequest): Promise<HttpResponse> {
    const [, path = '', query = ''] = /^([^?]*)\??(.*)$/.exec(target)!;
    return api.handle({
      method,
      path,
      query,
      headers,
      body: [Buffer.from(body)],
      host: new Headers(headers).get('Host') ?? 'localhost',
      sourceIp: '127.0.0.1',
    });
  }

  const { issueApiKey } = await import('../../infra/operate/key-store.ts');
  const { STAGE: stage, API_KEYS_TABLE: table } = process.env as Record<string, string>;
  const store = { stage: stage!, table: table!, database };
  const issued = await issueApiKey(store, { owner: 'a test', caller: 'a test' });
  isReady = true;

  return {
    handle,
    /** Sends a request with a valid API key. */
    send({ method = 'GET', target, headers, body = '' }: Request): Promise<HttpResponse> {
      const all = { Host: 'localhost', Authorization: `Bearer ${issued.key}`, ...headers };
      return handle({ method, target, headers: Object.entries(all), body });
    },
    api,
    store,
    apiKey: issued.key,
    /** Handlers of the functions by construct name, such as `ListBooks`. A test can replace a handler. */
    handlers,
    async close(): Promise<void> {
      await proxy.close();
      await tables.close();
    },
  };
}

function invokerOf(handler: Handler, timeoutSeconds: number): LambdaFunction['invoke'] {
  return async (event) => {
    const deadline = Date.now() + timeoutSeconds * 1_000;
    const getRemainingTimeInMillis = () => deadline - Date.now();
    const context = { functionVersion: '1', getRemainingTimeInMillis } as Context;
    try {
      return { result: JSON.stringify(await handler(event, context)) };
    } catch (error) {
      return { error: inspect(error) };
    }
  };
}
