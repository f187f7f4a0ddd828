import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sharedSynthesis } from '../../support/assembly.ts';
import { functionNames as names, resourceOf, stackTemplate } from '../../support/stack-template.ts';

const { assembly } = await sharedSynthesis();

/** Text that is in the code of one function alone, if it has any, and that minifying leaves as it is. */
const signatures: Record<string, string[]> = {
  ListPets: ['newest-by-status'],
  CreatePet: ['headers:{Location:`', 'attribute_not_exists'],
  Authorizer: ['execute-api:Invoke', '[Bb][Ee][Aa][Rr][Ee][Rr]'],
};

const template = stackTemplate('staging');
const bundles = new Map(names.map((name) => [name, join(assembly, folderOf(name), 'index.mjs')]));

describe.each(names)('the bundle of %s', (name) => {
  const file = bundles.get(name)!;
  const text = readFileSync(file, 'utf8');

  test('is one file', () => {
    expect(readdirSync(join(assembly, folderOf(name)))).toEqual(['index.mjs']);
  });

  // What is read and compiled is time at every cold start.
  test('has at most 270,000 bytes, and 215,000 without an operation', () => {
    expect(statSync(file).size).toBeLessThanOrEqual(name === 'Authorizer' ? 215_000 : 270_000);
  });

  test('holds its own code and that of no other function', () => {
    const own = signatures[name] ?? [];
    expect(own.filter((signature) => !text.includes(signature))).toEqual([]);
    const others = Object.entries(signatures).filter(([other]) => other !== name);
    expect(others.flatMap(([, texts]) => texts).filter((signature) => text.includes(signature))).toEqual([]);
  });

  test('holds the middleware engine and the schemas only where an operation runs', () => {
    const libraries = ['middy', 'valibot'].filter((library) => text.includes(library));
    expect(libraries).toEqual(name === 'Authorizer' ? [] : ['middy', 'valibot']);
  });
});

test('every bundle is an ES module that loads on its own, with few of the modules of Node, and exports the handler', () => {
  const script = `
    const ownModules = process.moduleLoadList.length;
    const exported = {};
    for (const url of process.argv.slice(1)) {
      const { handler, ...rest } = await import(url);
      exported[url] = [typeof handler, Object.keys(rest)];
    }
    console.log(JSON.stringify({ exported, loaded: process.moduleLoadList.slice(ownModules) }));`;
  const urls = [...bundles.values()].map((file) => pathToFileURL(file).href);
  // Without the environment of this process: what a bundle reads at import, its function would have to be told.
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script, ...urls], {
    env: {
      AWS_REGION: 'eu-central-1',
      // What is loaded for the first request counts too; there is nobody to answer it.
      AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
      AWS_ENDPOINT_URL_DYNAMODB: 'https://127.0.0.1:1',
      AWS_ACCESS_KEY_ID: 'nobody',
      AWS_SECRET_ACCESS_KEY: 'none',
      PETS_TABLE: 'Pets',
      API_KEYS_TABLE: 'ApiKeys',
      LIST_PARTITIONS: '1',
      STAGE: 'staging',
    },
    encoding: 'utf8',
  });
  const { exported, loaded } = JSON.parse(output);
  expect(exported).toEqual(Object.fromEntries(urls.map((url) => [url, ['function', []]])));
  // The last of them takes 10 ms: an import of `node:http` loads it.
  expect(loaded.length).toBeLessThanOrEqual(95);
  expect(loaded).not.toContain('NativeModule internal/deps/undici/undici');
});

/** Where the function's code lies in the assembly. */
function folderOf(name: string): string {
  const [, { Properties }] = resourceOf(template, 'AWS::Lambda::Function', name);
  return `asset.${Properties['Code'].S3Key.replace('.zip', '')}`;
}
