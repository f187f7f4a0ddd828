import { readTemplate } from '../../infra/local/emulator/template/template.ts';
import { stackName } from '../../shared/names.ts';
import { startFaultyService } from '../support/faulty-service.ts';
import { type HttpReply, sendHttp } from '../support/http.ts';
import { startLocalService } from '../support/local-service.ts';
import type { Target } from './fuzz.ts';

/**
 * Starts the functions in this process. Unlike in the local service, events contain bodies in Base64, and
 * `requestContext.path` begins with the stage.
 *
 * @param assembly folder of the cloud assembly
 */
export async function startFunctions(assembly: string): Promise<Target> {
  const { apiKey, handlers, ...service } = await startFaultyService(
    readTemplate(stackName('staging'), assembly),
  );
  for (const [name, handler] of Object.entries(handlers)) {
    handlers[name] = ({ requestContext, ...event }, context) => {
      const path = `/staging${event.path}`;
      return handler(
        { ...event, isBase64Encoded: true, requestContext: { ...requestContext, path } },
        context,
      );
    };
  }
  return {
    name: 'functions',
    apiKey,
    async send({ body = '', ...request }): Promise<HttpReply> {
      const base64 = Buffer.from(body).toString('base64');
      const response = await service.handle({ ...request, body: base64 });
      return {
        status: response.status,
        headers: new Headers(response.headers),
        text: request.method === 'HEAD' ? '' : response.body,
      };
    },
    printed: () => '',
    close: () => service.close(),
  };
}

/**
 * Starts the local service in a separate process.
 *
 * @param assembly folder of the cloud assembly
 */
export async function startService(assembly: string): Promise<Target> {
  const { baseUrl, apiKey, output, process: child, stop } = await startLocalService('--assembly', assembly);
  process.once('exit', () => child.kill());
  return {
    name: 'local service',
    apiKey,
    send: (request) => sendHttp(new URL(baseUrl).origin, request),
    printed: () => output().replaceAll(apiKey, '…').slice(-3_000),
    close: stop,
  };
}
