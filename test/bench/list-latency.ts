import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalService, startLocalService } from '../support/local-service.ts';

// `npm run bench:list`: does a list of 20 pets take longer when there are more of them? Two local services, one
// with 1,000 pets and one with 100,000, are asked in turn, so that whatever else the machine does meets both.

const SIZES = [1_000, 100_000];
const REQUESTS = 200;
/** Requests to one service before the other has its turn. */
const BLOCK = 50;
const WRITERS = 16;

async function seed({ baseAddress, apiKey }: LocalService, count: number): Promise<void> {
  let started = 0;
  let stored = 0;
  await Promise.all(
    Array.from({ length: WRITERS }, async () => {
      while (started < count) {
        started += 1;
        const response = await fetch(`${baseAddress}/pets`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ name: `Pet ${started}`, categoryId: started % 10, status: 'available' }),
        });
        if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
        await response.body?.cancel();
        stored += 1;
        if (stored % 1_000 === 0) process.stderr.write(`\r${stored} of ${count} pets stored`);
      }
    }),
  );
  process.stderr.write('\n');
}

/** Milliseconds from sending a request for 20 pets until its whole answer was read. */
async function timeList({ baseAddress, apiKey }: LocalService, query: string): Promise<number> {
  const start = performance.now();
  const response = await fetch(`${baseAddress}/pets?${query}`, {
    headers: { Authorization: `Bearer ${apiKey}` },
  });
  const pets = (await response.json()) as unknown[];
  if (pets.length !== 20) throw new Error(`Expected 20 pets, got ${pets.length}.`);
  return performance.now() - start;
}

function median(numbers: number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)]!;
}

const data = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
const services = await Promise.all(
  SIZES.map((size) => startLocalService('--data', join(data, size.toString()))),
);
try {
  for (const [index, service] of services.entries()) await seed(service, SIZES[index]!);

  console.log(`${new Date().toISOString()}, ${cpus()[0]?.model} x ${cpus().length}, Node ${process.version}`);
  for (const query of ['limit=20', 'limit=20&status=available']) {
    const times: number[][] = SIZES.map(() => []);
    // The first blocks warm the services up and are not counted: the larger one has run longer by far.
    for (let block = -20; block < REQUESTS / BLOCK; block += 1) {
      for (const [index, service] of services.entries()) {
        for (let request = 0; request < BLOCK; request += 1) {
          const time = await timeList(service, query);
          if (block >= 0) times[index]!.push(time);
        }
      }
    }
    const [few, many] = times.map(median) as [number, number];
    console.log(
      `GET /v1/pets?${query}, median of ${REQUESTS}: ${few.toFixed(2)} ms out of ${SIZES[0]}, ` +
        `${many.toFixed(2)} ms out of ${SIZES[1]}, ratio ${(many / few).toFixed(2)} (wanted: at most 1.2)`,
    );
  }
} finally {
  await Promise.all(services.map((service) => service.stop()));
  rmSync(data, { recursive: true });
}
