import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { RunnerError } from './runner-error.ts';
import { type ServiceOptions, startService } from './service.ts';

// `npm start`: synthesizes a stage's stack and runs its template on this machine.

const USAGE = `npm start -- [--stage STAGE] [--port 3000] [--data DIR|memory] [--assembly DIR] [--watch]
          [--verbose]

  --stage     the stage of infra/stages.ts to run (default: staging)
  --port      port on localhost (default: the variable PORT, or 3000); 0 takes a free one
  --data      folder that keeps the data (default: .petstore/STAGE), or memory to keep nothing
  --assembly  folder of an already synthesized cloud assembly (default: synthesize it now)
  --watch     swap functions when their sources are saved
  --verbose   list the resource types that are not run, and print the metrics`;

function readOptions(): ServiceOptions {
  const { values } = parseArgs({
    options: {
      stage: { type: 'string', default: 'staging' },
      port: { type: 'string', default: process.env['PORT'] ?? '3000' },
      data: { type: 'string' },
      assembly: { type: 'string' },
      watch: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  const { stage, port, assembly, watch, verbose } = values;
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new RunnerError(`The port must be a number from 0 to 65535, not ${port}.`);
  }
  if (values.data === '') throw new RunnerError('--data must name a folder, or be memory.');
  const data = values.data ?? fileURLToPath(new URL(`../../.petstore/${stage}`, import.meta.url));
  return { stage, port: Number(port), data, assembly, watch, verbose };
}

// Before it serves, no request is in progress.
let stop = (): void => process.exit(0);
process.once('SIGINT', () => stop());
process.once('SIGTERM', () => stop());
if (process.env['npm_lifecycle_event'] === 'start') {
  // npm sends a signal to its shell only. A shell that ends by it leaves this process to another parent.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && stop(), 500).unref();
}

try {
  const options = readOptions();
  const { baseAddress, apiKey, folder, notRunHere, close } = await startService(options);
  console.log(`
Pet store, stage ${options.stage}, ${folder ? `data in ${folder}` : 'data in memory only'}

  base address  ${baseAddress}
  API key       ${apiKey}

  curl -H 'Authorization: Bearer ${apiKey}' ${baseAddress}/pets

  In a browser, ${new URL('/', baseAddress).href} shows the interface, to read and to try.
`);
  if (options.verbose) console.log(`Not run here:\n${notRunHere.map((type) => `  ${type}\n`).join('')}`);
  stop = () => {
    stop = () => {}; // npm repeats the signal that the terminal sends for Ctrl-C
    void close().then(() => process.exit(0));
  };
} catch (error) {
  const isUsageError =
    error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
  if (!(error instanceof RunnerError) && !isUsageError) throw error;
  console.error(isUsageError ? `${error.message}\n\n${USAGE}` : error.message);
  process.exit(1);
}
