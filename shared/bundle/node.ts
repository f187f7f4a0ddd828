// Replaces the modules of Node in the bundles. For an import Node reads all that a module exports, and loads further modules
// for that. https://nodejs.org/api/process.html#processgetbuiltinmoduleid
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

/** Only a read of it would make Node load WebCrypto. */
export const getRandomValues = randomFillSync;

/** Only the authorizer needs `node:zlib`. */
export function crc32(data: string): number {
  return process.getBuiltinModule('node:zlib').crc32(data);
}

/** No request has a file for its body. */
export function ReadStream(): void {}

/** Lambda has no files with settings for the SDK, which goes on without. */
export async function readFile(): Promise<never> {
  throw new Error('Functions read no files.');
}
