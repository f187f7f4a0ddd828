import { StandardRetryStrategy } from '@smithy/core/retry';
import type { Context } from 'aws-lambda';
import { inspect } from 'node:util';
import { createApiGateway } from '../../infra/local/gateway/api-gateway.ts';
import type { HttpResponse } from '../../infra/local/gateway/http-message.ts';
import type { Invocation } from '../../infra/local/lambda/invocation.ts';
import type { LambdaFunction } from '../../infra/local/lambda/lambda.ts';
import type { Template } from '../../infra/local/template/template.ts';
import { moduleOf } from './handlers.ts';
import { type ChooseFault, type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { issueTestKey, setFunctionsEnvironment, startTables } from './real-database.ts';

export interface Request {
  method?: string;
  /** Path and query, below the host: `/v1/pets?limit=5`. */
  target: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface FaultyService {
  /** Sends a request with an API key. Any number of them may be at work at a time. */
  send: (request: Request) => Promise<HttpResponse>;
  tally: FaultProxy['tally'];
  /** How often each function was called so far, by the name of its construct. */
  invocations: Map<string, number>;
  close: () => Promise<void>;
}

type Handler = (event: any, context: Context) => Promise<unknown>;

/**
 * A stage's API on a database in memory that fails as chosen. The functions run in this process: instances of Lambda,
 * which answer one request at a time, would spend the time of a test waiting. Not to be started twice in a process.
 */
export async function startFaultyService(
  template: Template,
  chooseFault: ChooseFault,
): Promise<FaultyService> {
  const database = await startTables(template);
  let isQuiet = true;
  const proxy = await startFaultProxy(database.endpoint, (...call) =>
    isQuiet ? undefined : chooseFault(...call),
  );
  setFunctionsEnvironment(template, proxy.endpoint);
  Object.assign(process.env, { POWERTOOLS_LOG_LEVEL: 'SILENT', POWERTOOLS_METRICS_DISABLED: 'true' });

  // The CDK appends eight digits of a hash to the name of a function.
  const names = template.resources('AWS::Lambda::Function').map(({ logicalId }) => logicalId.slice(0, -8));
  const handlers: Record<string, Handler> = {};
  // Imported only now: they read some of their environment when they are.
  for (const name of names) {
    handlers[name] = ((await import(`../../functions/${moduleOf(name)}.ts`)) as { handler: Handler }).handler;
  }
  const { database: client } = await import('../../shared/storage/database.ts');
  // Of its own for each call, as an instance that answers one request at a time would hardly use one up.
  client.config.retryStrategy = async () => new StandardRetryStrategy({ maxAttempts: 3, baseDelay: 25 });
  const invocations = new Map(Object.keys(handlers).map((name) => [name, 0]));
  const api = createApiGateway(
    template,
    new Map(
      template.resources('AWS::Lambda::Function').map(({ logicalId, properties }) => {
        const name = logicalId.slice(0, -8);
        const handler: Handler = (event, context) => {
          invocations.set(name, invocations.get(name)! + 1);
          return handlers[name]!(event, context);
        };
        return [logicalId, inThisProcess(handler, properties.Timeout)];
      }),
    ),
  );

  const key = await issueTestKey();
  isQuiet = false;

  return {
    tally: proxy.tally,
    invocations,
    send({ method = 'GET', target, headers = {}, body = '' }) {
      const [path = '', query = ''] = target.split('?');
      return api.handle({
        method,
        path,
        query,
        headers: Object.entries({ Host: 'localhost', Authorization: `Bearer ${key}`, ...headers }),
        body: Buffer.from(body),
        sourceIp: '127.0.0.1',
      });
    },
    async close() {
      client.destroy();
      await proxy.close();
      await database.close();
    },
  };
}

/** A function as Lambda calls it, but for any number of events at a time. */
function inThisProcess(handler: Handler, timeoutSeconds: number): LambdaFunction {
  async function invoke(event: unknown): Promise<Invocation> {
    const deadline = Date.now() + timeoutSeconds * 1_000;
    const context = {
      functionVersion: '1',
      getRemainingTimeInMillis: () => deadline - Date.now(),
    } as Context;
    try {
      return { result: JSON.stringify(await handler(event, context)) };
    } catch (error) {
      return { error: inspect(error) };
    }
  }
  return { invoke, close: async () => {} };
}
