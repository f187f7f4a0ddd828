// Replaces Node's built-in modules in the bundles. An `import` reads all exports of a module, which
// makes Node load further modules. `getBuiltinModule` loads no further modules. https://nodejs.org/api/process.html#processgetbuiltinmoduleid
export const { isUtf8 } = process.getBuiltinModule('node:buffer');
export const { Console } = process.getBuiltinModule('node:console');
export const { createHash, createHmac, createSecretKey, hash, randomFillSync, randomInt, randomUUID } =
  process.getBuiltinModule('node:crypto');
export const { createReadStream, fstatSync, lstatSync } = process.getBuiltinModule('node:fs');
export const { homedir, platform, release } = process.getBuiltinModule('node:os');
export const { sep } = process.getBuiltinModule('node:path');
export const { env, versions } = process;
export const { PassThrough, Readable, Writable } = process.getBuiltinModule('node:stream');
export const { setTimeout } = process.getBuiltinModule('node:timers');

export function join(...parts: string[]): string {
  return process.getBuiltinModule('node:path').join(...parts);
}

/** Avoids `crypto.getRandomValues`, because reading that property makes Node load WebCrypto. */
export const getRandomValues = randomFillSync;

/** Loads `node:zlib` on the first call, because only the authorizer needs this module. */
export function crc32(data: string): number {
  return process.getBuiltinModule('node:zlib').crc32(data);
}

/** An empty class is enough, because the SDK only checks for file streams and request bodies are never file streams. */
export function ReadStream(): void {}

/** The SDK reads configuration files with this function and ignores errors. These files do not exist in Lambda. */
export async function readFile(): Promise<never> {
  throw new Error('Functions must not read files.');
}
