import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  findCycle,
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

describe('the list of imports in CONTRIBUTING.md', () => {
  test('allows every import', () => {
    expect(files.flatMap((file) => forbiddenImports(file, sources.get(file)!))).toEqual([]);
  });

  test('contains only paths that exist', () => {
    const paths = rules.flatMap(({ path, imports: targets }) => [path, ...targets]);
    expect(paths.filter((path) => !files.some((file) => `${file}/`.startsWith(`${path}/`)))).toEqual([]);
  });

  test('has no cycle', () => {
    const entries = rules.map(({ path, imports: targets }): [string, string[]] => [
      path,
      rules
        .map((other) => other.path)
        .filter((other) => other !== path && !path.startsWith(`${other}/`) && targets.includes(other)),
    ]);
    expect(findCycle(new Map(entries))).toBeUndefined();
  });
});

describe('every file', () => {
  test('is free of import cycles', () => {
    expect(findCycle(new Map(files.map((file) => [file, filesImportedBy(file)])))).toBeUndefined();
  });

  test('exports only its own definitions', () => {
    const barrels = files.filter((file) => /^export\b[^'"`;=()]*?\bfrom\s*['"]\./m.test(sources.get(file)!));
    expect(barrels).toEqual([]);
  });

  // The Lambda worker imports the bundles of a synthesized stack, whose paths are not known in advance.
  test('imports only literal names, except the Lambda worker', () => {
    const computed = files.filter((file) => importsComputedNames(sources.get(file)!));
    expect(computed).toEqual(['infra/local/emulator/lambda/lambda-worker.ts']);
  });

  // Loading the functions' runtime dependencies would slow down each synthesis and each test of a template.
  test('imports neither the SDK nor middy if the CDK app imports the file', () => {
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

describe('the import check', () => {
  test.each([
    ['functions/list-pets.ts', `import './get-pet.ts';`, 'functions/get-pet.ts'],
    // The entry for infra/operate/seed applies instead of the entry for infra/operate.
    ['infra/operate/seed/x.ts', `export * from '../../stages.ts';`, 'infra/stages.ts'],
    ['shared/storage/pets.ts', `import type { x } from '../../infra/stages.ts';`, 'infra/stages.ts'],
    ['shared/names.ts', `import {\n  type x,\n  y,\n} from 'aws-cdk-lib';`, 'aws-cdk-lib'],
    ['shared/names.ts', `const { x } = await import('./telemetry.ts');`, 'shared/telemetry.ts'],
    ['shared/names.ts', `const x = require('./telemetry.ts');`, 'shared/telemetry.ts'],
    ['infra/local/main.ts', `new Worker(new URL('../../functions/x.ts', import.meta.url))`, 'functions/x.ts'],
  ])('given the file %s, rejects the line %s', (file, line, target) => {
    expect(forbiddenImports(file, `'use strict';\n${line}\n`)).toEqual([
      `${file} must not import ${target}. CONTRIBUTING.md lists the allowed imports.`,
    ]);
  });

  test('reports a file without an entry', () => {
    expect(forbiddenImports('sharedx/x.ts', '')).toEqual([
      'Add sharedx/x.ts to the list of imports in CONTRIBUTING.md.',
    ]);
  });

  test('detects a cycle', () => {
    const graph = Object.entries({ a: ['b'], b: ['c'], c: ['b'] });
    expect(findCycle(new Map(graph))).toEqual(['b', 'c', 'b']);
  });

  test.each(['await import(`./${name}.ts`)', `await import('./x' + name)`, 'require(name)'])(
    'detects the computed name in %j',
    (source) => {
      expect(importsComputedNames(source)).toBe(true);
    },
  );

  test.each([
    [`import {\n  type x,\n  y,\n} from './x.ts';`, false],
    [`import type from './x.ts';`, false],
    [`import type { x } from './x.ts';`, true],
  ])('detects whether %j imports only types', (source, typeOnly) => {
    expect(importsOf('shared/a.ts', source)).toMatchObject([{ target: 'shared/x.ts', typeOnly }]);
  });
});
