import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { forbiddenImports, importsComputedNames, importsOf } from './support/import-rules.ts';

const projectRoot = fileURLToPath(new URL('..', import.meta.url));
const files = ['functions', 'infra', 'shared'].flatMap((folder) =>
  readdirSync(`${projectRoot}${folder}`, { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((file) => /\.[cm]?[jt]sx?$/.test(file)),
);
const sources = new Map(files.map((file) => [file, readFileSync(`${projectRoot}${file}`, 'utf8')]));

describe('the direction of imports', () => {
  test.each(files)('is kept by %s', (file) => {
    expect(forbiddenImports(file, sources.get(file)!)).toEqual([]);
  });

  // A rule that reads no names would hold by itself.
  test('is read from the files that are there', () => {
    expect(importsOf('infra/app.ts', sources.get('infra/app.ts')!)).toContainEqual({
      target: 'aws-cdk-lib',
      isFile: false,
      typeOnly: false,
    });
    expect(importsOf('functions/get-pet.ts', sources.get('functions/get-pet.ts')!)).toContainEqual({
      target: 'shared/endpoint.ts',
      isFile: true,
      typeOnly: false,
    });
  });

  // The worker that runs the bundles of a synthesized stack, whose names it is told.
  test('cannot be got round by names made up at run time, but where bundles are run', () => {
    const computed = files.filter((file) => importsComputedNames(sources.get(file)!));
    expect(computed).toEqual(['infra/local/lambda-worker.ts']);
  });

  // A synth, and every test of a template, would load all that a function needs to run.
  test('keeps the SDK and middy out of whatever the CDK app loads', () => {
    const seen = new Set<string>();
    function visit(target: string): void {
      if (seen.has(target)) return;
      seen.add(target);
      const source = sources.get(target);
      if (source === undefined) return;
      for (const found of importsOf(target, source)) if (!found.typeOnly) visit(found.target);
    }
    visit('infra/app.ts');
    expect([...seen]).toEqual(expect.arrayContaining(['infra/api.ts', 'shared/operations.ts', 'valibot']));
    expect([...seen].filter((target) => /^@(aws-sdk|smithy|middy)\//.test(target))).toEqual([]);
  });
});

describe('the rules', () => {
  test.each([
    ['functions/list-pets.ts', `import { x } from './get-pet.ts';`, 'functions/get-pet.ts'],
    ['functions/list-pets.ts', `import type { x } from '../infra/stages.ts';`, 'infra/stages.ts'],
    ['functions/list-pets.ts', `import { x } from '@aws-sdk/lib-dynamodb';`, '@aws-sdk/lib-dynamodb'],
    ['functions/list-pets.ts', `import * as v from 'valibot';`, 'valibot'],
    ['functions/list-pets.ts', `import { x } from 'aws-lambda';`, 'aws-lambda'],
    ['shared/pets.ts', `import { x } from '../functions/list-pets.ts';`, 'functions/list-pets.ts'],
    ['shared/pets.ts', `import { x } from '../infra/storage.ts';`, 'infra/storage.ts'],
    ['shared/pets.ts', `import middy from '@middy/core';`, '@middy/core'],
    ['shared/schemas.ts', `import { x } from '@aws-sdk/client-dynamodb';`, '@aws-sdk/client-dynamodb'],
    ['shared/json.ts', `import { x } from '../test/support/client.ts';`, 'test/support/client.ts'],
    ['shared/json.ts', `import { x } from '../../elsewhere.ts';`, '../elsewhere.ts'],
    ['shared/json.ts', `import settings from '../package.json' with { type: 'json' };`, 'package.json'],
    ['shared/environment.ts', `import { Stack } from 'aws-cdk-lib';`, 'aws-cdk-lib'],
    ['infra/api.ts', `import { errorBody } from '../shared/errors.ts';`, 'shared/errors.ts'],
    ['infra/api.ts', `import type { Pet } from '../shared/schemas.ts';`, 'shared/schemas.ts'],
    ['infra/api.ts', `import { handler } from '../functions/get-pet.ts';`, 'functions/get-pet.ts'],
    ['infra/api.ts', `import { x } from './local/routes.ts';`, 'infra/local/routes.ts'],
    ['infra/api.ts', `import { x } from './keys.ts';`, 'infra/keys.ts'],
    ['infra/api.ts', `import { x } from './key-lifecycle.ts';`, 'infra/key-lifecycle.ts'],
    ['infra/api.ts', `import { x } from '@aws-sdk/client-dynamodb';`, '@aws-sdk/client-dynamodb'],
    ['infra/keys.ts', `import { x } from './storage.ts';`, 'infra/storage.ts'],
    ['infra/keys.ts', `import { Duration } from 'aws-cdk-lib';`, 'aws-cdk-lib'],
    ['infra/openapi.ts', `import { Construct } from 'constructs';`, 'constructs'],
    [
      'infra/local/routes.ts',
      `import { operations } from '../../shared/operations.ts';`,
      'shared/operations.ts',
    ],
    ['infra/local/routes.ts', `import type { x } from '../stages.ts';`, 'infra/stages.ts'],
    ['infra/local/lambda.ts', `await import('../../functions/get-pet.ts');`, 'functions/get-pet.ts'],
    ['infra/local/main.ts', `import { App } from 'aws-cdk-lib';`, 'aws-cdk-lib'],
    ['infra/local/main.ts', `import { x } from '../docs.ts';`, 'infra/docs.ts'],
    ['infra/reference.ts', `import { openApiDocument } from '../shared/openapi.ts';`, 'shared/openapi.ts'],
    ['infra/api.ts', `import { referencePage } from './reference.ts';`, 'infra/reference.ts'],
    ['infra/docs.ts', `import x from '@scalar/fastify-api-reference';`, '@scalar/fastify-api-reference'],
    ['infra/local/main.ts', `import { x } from '@aws-sdk/client-dynamodb';`, '@aws-sdk/client-dynamodb'],
    ['shared/intents.ts', `import { x } from '@aws-sdk/lib-dynamodb';`, '@aws-sdk/lib-dynamodb'],
  ])('forbid %s the line %s', (file, line, target) => {
    expect(forbiddenImports(file, `\n${line}\n`)).toEqual([`${file} must not import ${target}`]);
  });

  test.each([
    ['functions/authorizer.ts', `import type { x } from 'aws-lambda';`],
    ['functions/list-pets.ts', `import { endpoint } from '../shared/endpoint.ts';`],
    ['shared/endpoint.ts', `import middy, { type MiddlewareObj } from '@middy/core';`],
    ['shared/database.ts', `import { x } from '@aws-sdk/lib-dynamodb';`],
    ['infra/api.ts', `import { RestApi } from 'aws-cdk-lib/aws-apigateway';`],
    ['infra/api.ts', `import { operations } from '../shared/operations.ts';`],
    ['infra/keys.ts', `import { stateOf } from '../shared/api-keys.ts';`],
    ['infra/keys.ts', `import { issueApiKey } from './key-lifecycle.ts';`],
    ['infra/openapi.ts', `import { openApiDocument } from '../shared/openapi.ts';`],
    ['infra/local/main.ts', `import dynalite from 'dynalite';`],
    ['infra/local/reference.ts', `import { referencePage } from '../reference.ts';`],
    ['infra/docs.ts', `import { referencePage } from './reference.ts';`],
    ['infra/reference-library.ts', `await import('@scalar/fastify-api-reference');`],
  ])('allow %s the line %s', (file, line) => {
    expect(forbiddenImports(file, line)).toEqual([]);
  });

  test('leave no file without a place', () => {
    expect(forbiddenImports('tools/x.ts', '')).toEqual(['tools/x.ts belongs to no part of the project']);
  });
});

describe('an import is found', () => {
  test.each([
    [`import './x.ts';`, false],
    [`import x from './x.ts';`, false],
    [`import x, { y } from "./x.ts";`, false],
    [`import * as x from './x.ts';`, false],
    [`import {\n  type x,\n  y,\n} from './x.ts';`, false],
    [`import { type x } from './x.ts';`, false],
    [`import type from './x.ts';`, false],
    [`import type { x } from './x.ts';`, true],
    [`import type * as x from './x.ts';`, true],
    [`import type x from './x.ts';`, true],
    [`export { x } from './x.ts';`, false],
    [`export * from './x.ts';`, false],
    [`export type { x } from './x.ts';`, true],
    [`const { x } = await import('./x.ts');`, false],
    [`type x = import(\n  './x.ts'\n).x;`, false],
    [`const x = require('./x.ts');`, false],
  ])('in %j', (source, typeOnly) => {
    expect(importsOf('shared/a.ts', `'use strict';\n${source}\n`)).toEqual([
      { target: 'shared/x.ts', isFile: true, typeOnly },
    ]);
  });

  test.each([`export const from = 'x';`, `Array.from('x');`, `export type X = 'x';`, `export default 'x';`])(
    'nowhere in %j',
    (source) => {
      expect(importsOf('shared/a.ts', source)).toEqual([]);
    },
  );

  test.each([
    'await import(name)',
    'await import(`./${name}.ts`)',
    `await import('./x' + name)`,
    'require(name)',
  ])('by a computed name in %j', (source) => {
    expect(importsComputedNames(source)).toBe(true);
  });
});
