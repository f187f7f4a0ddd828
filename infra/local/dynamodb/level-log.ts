import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// https://github.com/google/leveldb/blob/main/doc/log_format.md
const BLOCK_BYTES = 32_768;
/** Checksum (4 bytes), length (2) and type (1). The checksum is of the type and what follows. */
const HEADER_BYTES = 7;

/**
 * Checks the log of a LevelDB store, which has the latest writes. LevelDB skips damaged records, takes a lost log for an
 * empty one, and replaces a store that has lost its file CURRENT with an empty store, all without a word.
 *
 * @throws Error with the code LEVEL_CORRUPTION
 */
export function requireIntactLog(folder: string): void {
  const [current] = globSync(join(folder, 'CURRENT'));
  const logs = globSync(join(folder, '*.log'));
  if (!current && globSync(join(folder, '*.{ldb,log}')).length > 0)
    throw corruption(`${folder} has no file CURRENT`);
  if (current && logs.length === 0) throw corruption(`${folder} has no log`);
  const damaged = logs.find((file) => !isIntact(readFileSync(file)));
  if (damaged) throw corruption(`${damaged} is damaged`);
}

function corruption(message: string): Error {
  return Object.assign(new Error(message), { code: 'LEVEL_CORRUPTION' });
}

function isIntact(log: Buffer): boolean {
  let offset = 0;
  while (offset + HEADER_BYTES <= log.length) {
    const left = BLOCK_BYTES - (offset % BLOCK_BYTES);
    if (left < HEADER_BYTES) {
      offset += left;
      continue;
    }
    const end = offset + HEADER_BYTES + log.readUInt16LE(offset + 4);
    // Its process was killed while it wrote this, so nobody was told that it is stored.
    if (end > log.length) return true;
    if (log.readUInt32LE(offset) !== maskedCrc32c(log.subarray(offset + 6, end))) return false;
    offset = end;
  }
  return true;
}

const CRC32C = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit += 1)
    remainder = remainder & 1 ? (remainder >>> 1) ^ 0x82_f6_3b_78 : remainder >>> 1;
  return remainder;
});

function maskedCrc32c(bytes: Buffer): number {
  let crc = 0xff_ff_ff_ff;
  for (const byte of bytes) crc = CRC32C[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  crc = ~crc >>> 0;
  return (((crc >>> 15) | (crc << 17)) + 0xa2_82_ea_d8) >>> 0;
}
