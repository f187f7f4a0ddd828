import { resolve } from 'node:path';
import { explainFolderError } from './data-folder.ts';
import { onInterrupt, runWithOptions, UsageError } from '../operate/command.ts';
import { defaultDataFolder } from '../operate/keys/local-service.ts';
import { startService } from './service.ts';

const USAGE = `npm start -- [--stage STAGE] [--port 3000] [--data DIR|memory] [--assembly DIR] [--synth]
          [--watch] [--verbose]

  --stage     the stage of infra/stages.ts to run (default: staging)
  --port      port on localhost (default: the variable PORT, or 3000); 0 takes a free one
  --data      folder that keeps the data (default: .petstore/STAGE), or memory to keep nothing
  --assembly  folder of a synthesized cloud assembly (default: synthesize if anything changed,
              with --data memory always)
  --synth     synthesize in any case, for example after a change in node_modules
  --watch     swap functions when their sources are saved
  --verbose   list the resource types that are not run, and print the metrics`;

const options = {
  stage: { type: 'string', default: 'staging' },
  port: { type: 'string', default: process.env['PORT'] ?? '3000' },
  data: { type: 'string' },
  assembly: { type: 'string' },
  synth: { type: 'boolean', default: false },
  watch: { type: 'boolean', default: false },
  verbose: { type: 'boolean', default: false },
} as const;

// Before it serves, no request is in progress.
let stop = (): void => process.exit(0);
onInterrupt(() => stop());
if (process.env['npm_lifecycle_event'] === 'start') {
  // npm sends a signal to its shell only. A shell that ends by it leaves this process to another parent.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && stop(), 500).unref();
}

await runWithOptions(USAGE, options, async ({ port, assembly, ...values }) => {
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new UsageError(`The port must be a number from 0 to 65535, not ${port}.`);
  }
  if (values.data === '') throw new UsageError('--data must name a folder, or be memory.');
  if (!/^\w+$/.test(values.stage)) throw new UsageError('--stage must be the name of a stage.');
  if (assembly && (values.watch || values.synth))
    throw new UsageError('--watch and --synth need their own assembly: leave out --assembly.');
  const { data = defaultDataFolder(values.stage) } = values;
  process.stdout.on('error', () => stop()); // nobody reads it any more
  // dynalite throws errors of the store where nothing can catch them. The process ends before it acknowledges a later
  // write, which LevelDB may lose after a failed one.
  process.on('uncaughtException', (error) => {
    const explained = explainFolderError(resolve(data), error);
    console.error(explained instanceof UsageError ? explained.message : explained);
    process.exit(1);
  });
  const { baseUrl, apiKey, folder, notRunHere, close } = await startService({
    ...values,
    port: Number(port),
    data,
    assembly,
  });
  console.log(`
Pet store, stage ${values.stage}, ${folder ? `data in ${folder}` : 'data in memory only'}

  base URL  ${baseUrl}
  API key   ${apiKey}

  curl -H 'Authorization: Bearer ${apiKey}' ${baseUrl}/pets

  In a browser, ${new URL('/', baseUrl).href} shows the interface, to read and to try.
`);
  if (values.verbose) console.log(`Not run here:\n${notRunHere.map((type) => `  ${type}\n`).join('')}`);
  stop = () => {
    stop = () => {}; // called again while the shell's end is noticed
    void close().then(() => process.exit(0));
  };
});
