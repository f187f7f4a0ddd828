import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { runCommand, UsageError } from '../../infra/operate/command.ts';
import { showProgress } from '../../infra/operate/progress.ts';
import { integerOption } from '../../infra/operate/integer-option.ts';
import { requireTool } from '../support/tools.ts';
import { setUpClients } from './load-clients.ts';
import { gatherFigures } from './load-figures.ts';

// `npm run load`: what clients of a running service wait for while many of them ask at a time.

const USAGE = `npm run load -- --base-url URL --api-key KEY [--duration 600] [--connections 50] [--plot load.svg]

  --base-url     of the service, such as http://localhost:3000/v1 (default: the variable BASE_URL)
  --api-key      the key to call it with (default: the variable API_KEY, which npm does not print as it does its options)
  --duration     seconds to go on for, 1 to 86400
  --connections  clients at a time, 1 to 1000; each sends its next request when the last one is answered
  --plot         file to draw latency over time into

Ends with 1 when a request was not answered by 2xx. It leaves its pets in the service. It does not verify certificates:
with a deployed stage use a key that is for this alone.`;

const ANSWER_SECONDS = 30;
/** The end of it: autocannon connects to a service that has gone away over and over. */
const MOST_UNANSWERED = 1_000;
/** The plot has room for so many points in time. */
const MOST_SPANS = 200;

/** What is used of https://github.com/mcollina/autocannon#autocannonopts-cb. */
type Autocannon = (options: object) => Promise<{ duration: number }> & { stop: () => void };

interface Options {
  baseUrl: string;
  apiKey: string;
  seconds: number;
  connections: number;
  plotFile: string;
}

async function load(): Promise<void> {
  const options = readOptions();
  if (!options) return console.log(USAGE);
  const { baseUrl, apiKey, seconds, connections, plotFile } = options;
  const autocannon = requireTool('autocannon') as Autocannon;
  await requireService(baseUrl, apiKey);
  // Better now than after all the work.
  save(plotFile, '');

  const started = new Date();
  const figures = gatherFigures();
  const running = autocannon({
    url: baseUrl,
    connections,
    duration: seconds,
    timeout: ANSWER_SECONDS,
    headers: { Authorization: `Bearer ${apiKey}` },
    setupClient: setUpClients(new URL(baseUrl).pathname, figures),
  });
  process.once('SIGINT', () => running.stop());

  const show = showProgress(`${connections} connections, ${seconds} s`, seconds);
  const spanSeconds = Math.ceil(seconds / MOST_SPANS);
  let ticks = 0;
  const clock = setInterval(() => {
    ticks += 1;
    if (ticks % spanSeconds === 0) figures.endSpan();
    show(Math.min(ticks, seconds));
    if (figures.unansweredInAll() > MOST_UNANSWERED) running.stop();
  }, 1_000);
  const { duration } = await running;
  clearInterval(clock);
  figures.endSpan();
  const hasGone = figures.unansweredInAll() > MOST_UNANSWERED;
  if (hasGone) console.error('The service does not answer any more: the load has ended early.');
  else show(seconds);

  const title = `${connections} connections for ${Math.round(duration)} s, ${figures.requestsPerSecond(duration)} requests a second`;
  const circumstances = `${started.toISOString()}, ${cpus()[0]?.model} x ${cpus().length}, Node ${process.version}`;
  console.log(`${title}\n${circumstances}\n\n${figures.table()}\n\nLatency over time: ${plotFile}`);
  // Loaded when it is needed: it takes most of the time in which a wrong option could be told.
  const { plot } = await import('./load-plot.ts');
  save(plotFile, plot(figures.spans, title, circumstances));
  if (figures.failures() > 0) process.exitCode = 1;
}

function readOptions(): Options | undefined {
  const { values } = parseArgs({
    options: {
      'base-url': { type: 'string', default: process.env['BASE_URL'] ?? '' },
      'api-key': { type: 'string', default: process.env['API_KEY'] ?? '' },
      duration: { type: 'string', default: '600' },
      connections: { type: 'string', default: '50' },
      plot: { type: 'string', default: 'load.svg' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const baseUrl = values['base-url'].replace(/\/$/, '');
  const url = URL.parse(baseUrl);
  if (!/^https?:$/.test(url?.protocol ?? '') || url?.username || url?.search || url?.hash) {
    throw new UsageError('--base-url must be the address of a service, such as http://localhost:3000/v1.');
  }
  // It is sent in a header; no message of ours or of fetch's may quote it.
  if (!/^[!-~]+$/.test(values['api-key'])) {
    throw new UsageError('--api-key must be a key as `npm start` or `npm run keys` shows it.');
  }
  if (!values.plot) throw new UsageError('--plot must name a file.');
  return {
    baseUrl,
    apiKey: values['api-key'],
    seconds: integerOption('--duration', values.duration, 1, 86_400),
    connections: integerOption('--connections', values.connections, 1, 1_000),
    plotFile: values.plot,
  };
}

/** @throws UsageError when the service does not list pets for this key. */
async function requireService(baseUrl: string, apiKey: string): Promise<void> {
  const address = `${baseUrl}/pets?limit=1`;
  const response = await fetch(address, {
    headers: { Authorization: `Bearer ${apiKey}` },
    redirect: 'manual',
    signal: AbortSignal.timeout(ANSWER_SECONDS * 1_000),
  }).catch((error: Error) => {
    const reason = (error.cause as Error | undefined)?.message || error.message;
    throw new UsageError(`${baseUrl} does not answer: ${reason}.`);
  });
  await response.body?.cancel();
  if (response.status === 401) throw new UsageError(`${baseUrl} refuses this API key.`);
  if (!response.ok)
    throw new UsageError(`${address} was answered ${response.status}: no pet store is there.`);
}

/** @throws UsageError when the file cannot be written. */
function save(file: string, content: string): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw new UsageError(`--plot cannot be written: ${(error as Error).message}.`);
  }
}

await runCommand(load);
