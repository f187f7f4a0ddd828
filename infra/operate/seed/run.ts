import { hash, randomInt, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as v from 'valibot';
import { stringifyJson } from '../../../shared/contract/json.ts';
import { UsageError } from '../command.ts';
import { showProgress } from '../progress.ts';
import { ask, repeat } from './client.ts';
import { RUN_HOURS, type SeedOptions, SEEDS, type SeedTarget } from './options.ts';
import { madeUpPet } from './pets.ts';

// A run of `npm run seed` adds its pets in order, and keeps in a file how far it has come. Cut off wherever, it goes on at
// the first pet that is not known to be there, under the same Idempotency-Keys: what was sent already, be it by another
// process, is answered by the same pet.

const PETS_BETWEEN_WRITES = 100;

const Natural = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const SeedRun = v.object({
  id: v.string(),
  seed: Natural,
  count: Natural,
  /** Recognises the API key, which is written nowhere. */
  fingerprint: v.string(),
  /** In milliseconds since 1970. */
  startedAt: Natural,
  /** So many pets, from the first on, are known to be there. */
  added: Natural,
});
export type SeedRun = v.InferOutput<typeof SeedRun>;

/**
 * The run to go on with, or a new one.
 *
 * @throws UsageError when the one in the file is broken, another than is asked for, or might add pets twice.
 */
export function chooseRun({ runFile, apiKey }: SeedTarget, options: SeedOptions): SeedRun {
  const fingerprintIn = (id: string) => hash('sha256', `${id} ${apiKey}`).slice(0, 16);
  if (options.restart || !existsSync(runFile)) {
    const { count = 1_000, seed = randomInt(SEEDS) } = options;
    const id = randomUUID();
    return { id, seed, count, fingerprint: fingerprintIn(id), startedAt: Date.now(), added: 0 };
  }
  const run = readRun(runFile);
  const { count, seed, added } = run;
  if ((options.count ?? count) !== count || (options.seed ?? seed) !== seed) {
    throw new UsageError(
      `A run of --count ${count} --seed ${seed} is not at its end: go on with these options, or begin anew with --restart; at least ${added} pets are there and stay.`,
    );
  }
  if (fingerprintIn(run.id) !== run.fingerprint) {
    throw new UsageError(`The run before had another API key: go on with that one, or ${addRest(run)}`);
  }
  requireInTime(run);
  return run;
}

function readRun(file: string): SeedRun {
  try {
    return v.parse(SeedRun, JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    throw new UsageError(`${file} does not tell how far the run before has come: begin anew with --restart.`);
  }
}

/** Whether what is sent now is not added twice. */
export function isInTime({ startedAt }: SeedRun): boolean {
  return Date.now() - startedAt < RUN_HOURS * 3_600_000;
}

function requireInTime(run: SeedRun): void {
  if (isInTime(run)) return;
  throw new UsageError(`The run began more than ${RUN_HOURS} hours ago, too long to go on: ${addRest(run)}`);
}

function addRest({ count, added }: SeedRun): string {
  return `begin anew with --restart --count ${count - added}; at least ${added} of ${count} pets are there and stay.`;
}

/** Replaces the file at once: whoever reads it finds the old one or the new one. */
function writeRun(file: string, run: SeedRun): void {
  const written = `${file}.${process.pid}`; // another process may be writing too
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(written, `${JSON.stringify(run)}\n`, { flush: true });
    renameSync(written, file);
  } catch (error) {
    throw new UsageError(`How far the run has come cannot be kept: ${(error as Error).message}.`);
  }
}

/** Adds what is left of a run until it is told to stop or a pet fails for good, and waits for what is under way then. */
export async function addPets(
  target: SeedTarget,
  run: SeedRun,
  concurrency: number,
  stopping: AbortController,
) {
  const { id, seed, count } = run;
  const onProgress = showProgress('pets', count);
  /** Those before `next` that are not known to be there. */
  const missing = new Set<number>();
  let next = run.added;
  let kept = run.added;
  let requests = 0;

  const countAdded = () => Math.min(next, ...missing);

  function keep(): void {
    kept = countAdded();
    if (kept === count) rmSync(target.runFile, { force: true });
    else writeRun(target.runFile, { ...run, added: kept });
  }

  async function addOneByOne(): Promise<void> {
    while (next < count && !stopping.signal.aborted) {
      const index = next;
      next += 1;
      missing.add(index);
      const body = stringifyJson(madeUpPet(seed, index));
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': `seed-${id}-${index}` };
      await repeat(() => {
        requireInTime(run);
        requests += 1;
        return ask(target, '/pets', { method: 'POST', headers, body });
      }, stopping.signal);
      missing.delete(index);
      onProgress(next - missing.size);
      if (countAdded() >= kept + PETS_BETWEEN_WRITES) keep();
    }
  }

  keep();
  onProgress(next);
  const workers = Array.from({ length: concurrency }, addOneByOne);
  await Promise.all(workers.map((worker) => worker.catch((error: unknown) => stopping.abort(error))));
  keep();
  return { added: countAdded(), requests };
}
