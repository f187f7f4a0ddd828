import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  findCircle,
  forbiddenImports,
  importsComputedNames,
  importsOf,
  rules,
} from './support/import-rules.ts';

const projectRoot = fileURLToPath(new URL('..', import.meta.url));
const files = ['functions', 'infra', 'shared'].flatMap((folder) =>
  readdirSync(`${projectRoot}${folder}`, { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((file) => /\.[cm]?[jt]sx?$/.test(file)),
);
const sources = new Map(files.map((file) => [file, readFileSync(`${projectRoot}${file}`, 'utf8')]));
const imports = new Map(Array.from(sources, ([file, source]) => [file, importsOf(file, source)]));

function filesImportedBy(file: string): string[] {
  return imports.get(file)!.flatMap(({ target, isFile }) => (isFile ? [target] : []));
}

describe('the table of imports in CONTRIBUTING.md', () => {
  test('allows every import', () => {
    expect(files.flatMap((file) => forbiddenImports(file, sources.get(file)!))).toEqual([]);
  });

  test('names only existing places', () => {
    const places = rules.flatMap(({ place, imports: targets }) => [place, ...targets]);
    expect(places.filter((place) => !files.some((file) => `${file}/`.startsWith(`${place}/`)))).toEqual([]);
  });

  test('has no circle', () => {
    const rows = rules.map(({ place, imports: targets }): [string, string[]] => [
      place,
      rules
        .map((other) => other.place)
        .filter((other) => other !== place && !place.startsWith(`${other}/`) && targets.includes(other)),
    ]);
    expect(findCircle(new Map(rows))).toBeUndefined();
  });
});

describe('the files', () => {
  test('import one another without a circle', () => {
    expect(findCircle(new Map(files.map((file) => [file, filesImportedBy(file)])))).toBeUndefined();
  });

  test('define what they export, rather than re-export it from another', () => {
    const barrels = files.filter((file) => /^export\b[^'"`;=()]*?\bfrom\s*['"]\./m.test(sources.get(file)!));
    expect(barrels).toEqual([]);
  });

  // The worker imports bundles of a synthesized stack, whose names it receives.
  test('compute no names of imports, except where bundles are run', () => {
    const computed = files.filter((file) => importsComputedNames(sources.get(file)!));
    expect(computed).toEqual(['infra/local/lambda/lambda-worker.ts']);
  });

  // A synth, and every test of a template, would load all that a function needs to run.
  test('keep the SDK and middy out of the CDK app', () => {
    const seen = new Set<string>();
    function visit(target: string): void {
      if (seen.has(target)) return;
      seen.add(target);
      for (const found of imports.get(target) ?? []) if (!found.typeOnly) visit(found.target);
    }
    visit('infra/app.ts');
    expect([...seen]).toEqual(
      expect.arrayContaining(['infra/stack/api.ts', 'shared/contract/operations.ts', 'valibot']),
    );
    expect([...seen].filter((target) => /^@(aws-sdk|smithy|middy)\//.test(target))).toEqual([]);
  });
});

describe('a rule', () => {
  test.each([
    ['functions/list-pets.ts', `import './get-pet.ts';`, 'functions/get-pet.ts'],
    // The longest place applies, so not the one of `infra/operate`.
    ['infra/operate/seed/x.ts', `export * from '../../stages.ts';`, 'infra/stages.ts'],
    ['shared/storage/pets.ts', `import type { x } from '../../infra/stages.ts';`, 'infra/stages.ts'],
    ['shared/names.ts', `import {\n  type x,\n  y,\n} from 'aws-cdk-lib';`, 'aws-cdk-lib'],
    ['shared/names.ts', `const { x } = await import('./telemetry.ts');`, 'shared/telemetry.ts'],
    ['shared/names.ts', `const x = require('./telemetry.ts');`, 'shared/telemetry.ts'],
    ['infra/local/main.ts', `new Worker(new URL('../../functions/x.ts', import.meta.url))`, 'functions/x.ts'],
  ])('forbids %s the line %s', (file, line, target) => {
    expect(forbiddenImports(file, `'use strict';\n${line}\n`)).toEqual([
      `${file} must not import ${target}: see the table of imports in CONTRIBUTING.md`,
    ]);
  });

  test('is required for every file', () => {
    expect(forbiddenImports('sharedx/x.ts', '')).toEqual([
      'sharedx/x.ts has no row in the table of imports in CONTRIBUTING.md',
    ]);
  });

  test('against circles detects one', () => {
    const graph = Object.entries({ a: ['b'], b: ['c'], c: ['b'] });
    expect(findCircle(new Map(graph))).toEqual(['b', 'c', 'b']);
  });

  test.each(['await import(`./${name}.ts`)', `await import('./x' + name)`, 'require(name)'])(
    'against computed names detects %j',
    (source) => {
      expect(importsComputedNames(source)).toBe(true);
    },
  );

  test.each([
    [`import {\n  type x,\n  y,\n} from './x.ts';`, false],
    [`import type from './x.ts';`, false],
    [`import type { x } from './x.ts';`, true],
  ])('about types knows whether they are all that is imported by %j', (source, typeOnly) => {
    expect(importsOf('shared/a.ts', source)).toMatchObject([{ target: 'shared/x.ts', typeOnly }]);
  });
});
