import { expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path/posix';

const cdk = '{aws-cdk-lib,constructs}{,/**}';
const middy = '@middy/**';
const sdk = '{@aws-sdk,@smithy}/**';
/** Stands for Node's modules and all packages that do not match the patterns above. */
const others = 'other packages';

/**
 * What files may import, by the pattern of their paths. If several patterns match a file, the last of them applies. The rules
 * keep middy and most of the SDK out of the CDK app, the CDK out of the functions, and the project out of the emulator.
 */
const allowedImports = {
  'functions/**': [
    'aws-lambda',
    'shared/*',
    'shared/contract/**',
    'shared/storage/**',
    'shared/runtime/{endpoint,warm-up}.ts',
  ],
  'shared/*': [others, 'shared/*'],
  'shared/contract/**': [others, 'shared/names.ts', 'shared/contract/**'],
  'shared/storage/**': [others, sdk, 'shared/*', 'shared/contract/**', 'shared/storage/**'],
  'shared/runtime/**': [others, middy, 'shared/**'],
  'infra/*': [others, 'infra/*', 'shared/*', 'shared/contract/**'],
  'infra/settings.ts': [others, 'aws-cdk-lib/aws-logs', 'infra/command.ts', 'shared/contract/**'],
  'infra/app.ts': [others, cdk, 'infra/*', 'infra/stack/**', 'shared/names.ts'],
  'infra/stack/**': [
    others,
    cdk,
    'infra/{command,settings}.ts',
    'infra/stack/**',
    'shared/{api-keys,names}.ts',
    'shared/contract/**',
  ],
  'infra/openapi/**': [others, 'infra/*', 'infra/openapi/**', 'shared/*', 'shared/contract/**'],
  'infra/operate/**': [
    others,
    sdk,
    'infra/*',
    'infra/operate/**',
    'infra/local/local-service.ts',
    'shared/**',
  ],
  'infra/local/**': [
    others,
    sdk,
    'infra/*',
    'infra/openapi/**',
    'infra/local/**',
    'infra/stack/bundling.ts',
    'shared/**',
  ],
  'infra/local/emulator/**': [others, 'infra/local/emulator/**'],
};

test('files import only what test/project/imports.test.ts allows in their folders', () => {
  const files = globSync('{functions,shared,infra}/**/*.ts').map((file) => file.replaceAll('\\', '/'));
  const violations = files.flatMap((file) => {
    const rule = Object.entries(allowedImports).findLast(([pattern]) => matchesGlob(file, pattern));
    if (!rule) return [`${file} matches no pattern in test/project/imports.test.ts`];
    const [, allowed] = rule;
    return importsOf(file).flatMap((name) => {
      const imported = name.startsWith('.') ? join(file, '..', name) : name;
      const isOther = imported === name && ![cdk, middy, sdk].some((pattern) => matchesGlob(name, pattern));
      const isAllowed = allowed.some((pattern) =>
        pattern === others ? isOther : matchesGlob(imported, pattern),
      );
      return isAllowed ? [] : [`${file} must not import ${imported}`];
    });
  });
  expect(violations).toEqual([]);
});

/** Returns the names in the import and export statements and dynamic imports of a file that oxfmt has formatted. */
function importsOf(file: string): string[] {
  const pattern = /^(?:import|export) [^;'(=]*from '(.+?)'|^import '(.+?)'|\bimport\('(.+?)'\)/gm;
  const matches = readFileSync(file, 'utf8').matchAll(pattern);
  return Array.from(matches, ([, from, sideEffect, dynamic]) => (from ?? sideEffect ?? dynamic)!);
}
