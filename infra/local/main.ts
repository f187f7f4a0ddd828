import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { onceNpmHasEnded } from './npm.ts';
import { RunnerError } from './runner-error.ts';
import { type ServiceOptions, startService } from './service.ts';

// `npm start`: synthesizes a stage's stack and runs that template on this machine.

const USAGE = `npm start -- [--stage staging|production] [--port 3000] [--data DIR|memory] [--assembly DIR] [--watch]
          [--verbose]

  --stage     which stack to run (default: staging)
  --port      port on localhost (default: the variable PORT, or 3000); 0 takes a free one
  --data      folder that keeps the data (default: .petstore/STAGE), or memory to keep nothing
  --assembly  folder of an already synthesized cloud assembly (default: synthesize it now)
  --watch     swap the functions whose sources are saved, while the service goes on
  --verbose   say what of the template is not run here, and print the access log and the metrics`;

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
  if (!['staging', 'production'].includes(stage)) {
    throw new RunnerError(`--stage must be staging or production, not ${stage}.`);
  }
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new RunnerError(`The port must be a number from 0 to 65535, not ${port}.`);
  }
  if (values.data === '') throw new RunnerError('--data must name a folder, or be memory.');
  if (watch && assembly !== undefined) {
    throw new RunnerError(
      'The bundles of --assembly are run as they are, so that there is nothing to --watch: leave out one of the two.',
    );
  }
  const data = values.data ?? fileURLToPath(new URL(`../../.petstore/${stage}`, import.meta.url));
  return { stage, port: Number(port), data, assembly, watch, verbose };
}

// Until it serves, there is nothing to end in order.
let stop = (): void => process.exit(0);
process.once('SIGINT', () => stop());
process.once('SIGTERM', () => stop());
onceNpmHasEnded(() => stop());

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
    // Ctrl-C ends npm as well, which asks for the end once more: it is under way then.
    stop = () => {};
    void close().then(() => process.exit(0));
  };
} catch (error) {
  const isUsageError =
    error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
  if (!(error instanceof RunnerError) && !isUsageError) throw error;
  console.error(isUsageError ? `${error.message}\n\n${USAGE}` : error.message);
  process.exit(1);
}
