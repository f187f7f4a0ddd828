import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { asOpenApi30 } from '../../infra/documents/openapi/openapi-3.0.ts';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import { collectionTests } from '../collections/all.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { hasTools, requireTool, toolModules } from '../support/tools.ts';

// These tests import the OpenAPI document of the local service, set the variables that "Import the document" in
// docs/clients.md names, and send each request as the tool would.

/** Parameter, header or variable of a tool. Disabled parameters and headers are not sent. */
type Field = { name: string; value: string; type?: string; isDisabled?: boolean };

interface Imported {
  /** Names of environments. */
  environments: string[];
  variables: Field[];
  /** The token as the tool stores it, such as `{{token}}`. */
  token: string;
  requests: { method: string; url: string; parameters: Field[]; headers: Field[]; body?: string }[];
}

const importers: Record<string, (document: string) => Promise<Imported>> = {
  async Postman(document) {
    const { convertV2 } = requireTool('openapi-to-postmanv2');
    const options = { parametersResolution: 'Example', enableOptionalParameters: false };
    const collection = await new Promise<any>((resolve, reject) => {
      convertV2({ type: 'string', data: document }, options, (error: unknown, result: any) =>
        error ? reject(error) : resolve(result.output[0].data),
      );
    });
    return {
      environments: [],
      variables: postmanFields(collection.variable),
      token: collection.auth.bearer[0].value,
      requests: leaves(collection.item, 'item').map(({ request: { method, url, header, body } }) => ({
        method,
        url: [...url.host, ...url.path].join('/'),
        parameters: [...postmanFields(url.query), ...postmanFields(url.variable, 'path')],
        headers: postmanFields(header),
        body: body?.raw,
      })),
    };
  },
  async Bruno(document) {
    const { openApiToBruno } = requireTool('@usebruno/converters');
    const collection = await openApiToBruno(JSON.parse(document));
    return {
      environments: collection.environments.map(({ name }: any) => name),
      variables: collection.environments[0].variables,
      token: collection.root.request.auth.bearer.token,
      requests: leaves(collection.items, 'items').map(
        ({ request: { method, url, params, headers, body } }) => ({
          method,
          url,
          parameters: brunoFields(params),
          // Bruno adds the Content-Type of a JSON body when it sends the request, so it is added here too.
          headers: [
            ...brunoFields(headers),
            ...(body.json ? [{ name: 'Content-Type', value: 'application/json' }] : []),
          ],
          body: body.json ?? undefined,
        }),
      ),
    };
  },
};

function postmanFields(list: any[] = [], type = 'value'): Field[] {
  return list.map(({ key, value, disabled }) => ({ name: key, value, type, isDisabled: disabled }));
}

function brunoFields(list: any[]): Field[] {
  return list.map((field) => ({ ...field, isDisabled: !field.enabled }));
}

let service: LocalService;

beforeAll(async () => {
  service = await startLocalService();
});
afterAll(async () => {
  await service.stop();
});

(hasTools() ? describe : describe.skip)('after npm ci --prefix test/tools,', () => {
  test.each([
    ['Postman', 'bearerToken', '/openapi.json', []],
    ['Postman', 'bearerToken', '/openapi-3.0.json', []],
    ['Bruno', 'token', '/openapi.json', ['Local service']],
    ['Bruno', 'token', '/openapi-3.0.json', ['Local service']],
  ])(
    '%s lists and creates items when only its variable %s is set, after an import of %s',
    async (tool, variable, path, environments) => {
      const imported = await importers[tool]!(await documentAt(path));
      expect(imported.environments).toEqual(environments);
      const variables = [...imported.variables, { name: variable, value: service.apiKey }];
      const outcomes = await Promise.all(
        imported.requests.map((request) => send(imported.token, request, variables)),
      );
      const expected = Object.values(collectionTests).flatMap((collection) => [
        `GET ${collection.path} 200`,
        `POST ${collection.path} 201`,
      ]);
      expect(outcomes).toEqual(expect.arrayContaining(expected));
    },
  );

  // swagger-cli 4 validates documents with swagger-parser 10, so this parser alone is tested.
  test.each(['openapi.json', 'openapi-3.0.json'])('swagger-cli accepts the published %s', async (file) => {
    const published = JSON.parse(readFileSync('openapi.json', 'utf8'));
    const document = file === 'openapi.json' ? published : asOpenApi30(published);
    const parser = requireTool('@apidevtools/swagger-parser');
    const { info } = await parser.validate(document);
    expect(info.title).toMatch(/./);
  });

  test.each(['/openapi.json', '/openapi-3.0.json'])('Redocly bundles %s without a change', async (path) => {
    const { bundleFromString, createConfig } = await import(
      `${toolModules}/@redocly/openapi-core/lib/index.js`
    );
    const source = await documentAt(path);
    const { bundle } = await bundleFromString({ source, config: await createConfig({}) });
    expect(stringifyJson(parseJson(JSON.stringify(bundle.parsed)))).toBe(stringifyJson(parseJson(source)));
  });
});

async function documentAt(path: string): Promise<string> {
  return (await fetch(new URL(path, service.baseUrl))).text();
}

/** Returns the requests in folders of requests. `name` is the property with a folder's contents. */
function leaves(folder: any[], name: string): any[] {
  return folder.flatMap((item) => (item[name] ? leaves(item[name], name) : [item]));
}

/**
 * Sends a request as a tool would. Returns the method, the path and the response's status, such as `GET /books 200`.
 */
async function send(
  token: string,
  request: Imported['requests'][number],
  variables: Field[],
): Promise<string> {
  const values = new Map(variables.map(({ name, value }) => [name, value]));
  const fill = (text: string): string =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => fill(values.get(name)!));
  const sent = (fields: Field[]) => fields.filter(({ isDisabled = false }) => !isDisabled);
  const url = new URL(fill(request.url));
  for (const { name, value, type } of sent(request.parameters)) {
    if (type === 'path') url.pathname = url.pathname.replace(`:${name}`, value);
    else url.searchParams.append(name, value);
  }
  const { status } = await fetch(url, {
    method: request.method,
    headers: [
      ['Authorization', `Bearer ${fill(token)}`],
      ...sent(request.headers).map(({ name, value }): [string, string] => [name, value]),
    ],
    ...(request.body !== undefined && { body: request.body }),
  });
  return `${request.method} ${url.pathname.replace('/v1', '')} ${status}`;
}
