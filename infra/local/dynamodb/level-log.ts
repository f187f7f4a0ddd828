import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// https://github.com/google/leveldb/blob/main/doc/log_format.md
const BLOCK_BYTES = 32_768;
/** Size of a record's header, which contains a checksum (4 bytes), a length (2 bytes) and a type (1 byte). */
const HEADER_BYTES = 7;
const LAST_TYPE = 4;

/**
 * Checks the log of a LevelDB store, because LevelDB does not report lost writes. LevelDB skips damaged records,
 * accepts a missing log, and creates an empty store if the file CURRENT is missing.
 *
 * @throws Error with the code LEVEL_CORRUPTION if the store is damaged.
 */
export function requireIntactLog(folder: string): void {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const logs = names.filter((name) => name.endsWith('.log'));
  const isNew = !names.includes('CURRENT');
  if (isNew && names.some((name) => /\.(?:ldb|log)$/.test(name)))
    throw corruption(`${folder} has no CURRENT file`);
  if (!isNew && logs.length === 0) throw corruption(`${folder} has no log file`);
  for (const file of logs.map((name) => join(folder, name)))
    if (!isIntact(readFileSync(file))) throw corruption(`${file} is damaged`);
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
    const end = endOf(log, offset);
    if (end - offset > left) return false;
    // The last record can be incomplete if the process was killed before it acknowledged the write.
    if (end > log.length) return !hasRecord(log, offset + 1);
    if (!isRecord(log, offset)) return false;
    offset = end;
  }
  return true;
}

function endOf(log: Buffer, offset: number): number {
  return offset + HEADER_BYTES + log.readUInt16LE(offset + 4);
}

function isRecord(log: Buffer, offset: number): boolean {
  const end = endOf(log, offset);
  return end <= log.length && log.readUInt32LE(offset) === maskedCrc32c(log.subarray(offset + 6, end));
}

function hasRecord(log: Buffer, from: number): boolean {
  for (let offset = from; offset + HEADER_BYTES <= log.length; offset += 1)
    if (log[offset + 6]! <= LAST_TYPE && isRecord(log, offset)) return true;
  return false;
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
