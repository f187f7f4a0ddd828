import { relative } from 'node:path';
import { collections } from '../../shared/contract/operations.ts';
import { productName } from '../../shared/names.ts';
import {
  onInterrupt,
  pathOption,
  projectRoot,
  relativePaths,
  runWithOptions,
  UsageError,
} from '../command.ts';
import { dataOption, defaultDataFolder } from './local-service.ts';
import { explainError, options, startService } from './start-service.ts';

const USAGE = `npm start -- [--stage STAGE] [--port 3000] [--data DIR|memory] [--assembly DIR] [--synth]
          [--watch] [--inspect PORT] [--verbose]

Runs a stage on this machine without an AWS account, and prints its base URL and an API key.

  --stage     stage in infra/stages.ts to run (default: staging)
  --port      port on localhost, or 0 for any free port (default: the value of PORT, or 3000)
  --data      folder for the data, or memory to keep no data (default: ${relative(projectRoot, defaultDataFolder('STAGE'))})
  --assembly  folder of a synthesized cloud assembly (default: synthesize if a source has
              changed, or always with --data memory)
  --synth     synthesize even if no source has changed, for example after editing node_modules
  --watch     reload functions when their sources are saved
  --inspect   like --watch, but run functions without timeouts, and accept
              debuggers: on PORT (usually 9229) for the first function, on the next port for
              the second function, and so on
  --verbose   list the resource types that are not run locally, and print the functions' metrics

${relativePaths}`;

// During startup, no requests are in progress, so the process can exit immediately.
let stop = (): void => process.exit(0);
// Other code stops the service by emitting SIGTERM, so that `onInterrupt` ignores all later signals.
onInterrupt(() => stop());
// npm passes SIGTERM on only to its shell, which ends without passing it on.
if (process.env['npm_lifecycle_event'] === 'start') {
  const launcher = Number(process.env['LAUNCHER_PID'] ?? process.ppid); // The variable is that of require-node.cjs.
  setInterval(() => isRunning(launcher) || process.emit('SIGTERM'), 500).unref();
}

await runWithOptions(USAGE, options, async (values) => {
  const data = values.data ? dataOption(values.data) : defaultDataFolder(values.stage);
  const assembly = values.assembly ? pathOption('--assembly', values.assembly) : '';
  process.stdout.on('error', () => process.emit('SIGTERM')); // The program that reads the output has exited.
  // dynalite's storage errors are uncaught exceptions. LevelDB can lose writes after a failed write, so the process
  // exits before it acknowledges another write.
  process.on('uncaughtException', (error) => {
    const explained = explainError(data, error);
    console.error(explained instanceof UsageError ? explained.message : explained);
    process.exit(1);
  });
  const { baseUrl, apiKey, folder, skippedTypes, notRun, close } = await startService({
    ...values,
    data,
    assembly,
  });
  console.log(`
${productName}, stage ${values.stage}, ${folder ? `data in ${folder}` : 'data in memory only'}

  base URL  ${baseUrl}
  API key   ${apiKey}

  curl -H 'Authorization: Bearer ${apiKey}' ${new URL(collections[0].path, baseUrl).href}

  Open ${new URL('/', baseUrl).href} in a browser to read and try the API.
  Import ${new URL('/openapi.json', baseUrl).href} or /openapi-3.0.json into other tools.
`);
  if (notRun.length > 0) console.log(`Not run locally: ${notRun.join(', ')}\n`);
  if (values.verbose) console.log(`Not run locally:\n${skippedTypes.map((type) => `  ${type}\n`).join('')}`);
  stop = () => void close().then(() => process.exit(0));
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
