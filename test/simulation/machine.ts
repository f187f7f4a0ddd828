import type { HttpRequest, HttpResponse } from '@smithy/core/transport';

// This module replaces what code can observe of its machine, so that a simulation decides what the code sees: the
// clock, timers, random numbers, environment variables, output, and requests to AWS. Code that runs outside of a
// simulation sees the real machine. Import this module before the code under test, because that code can keep functions
// that it imports.

/** The machine of a simulated process. */
export interface Machine {
  /** Milliseconds since 1970 on the clock of this machine. */
  now(): number;
  /** Calls `act` after a number of milliseconds. Returns a function that cancels the call. */
  startTimer(milliseconds: number, act: () => void): () => void;
  /** Returns a number from 0 to less than 1. */
  random(): number;
  /** Environment variables in addition to those of the real machine. */
  environment: Record<string, string>;
  /** Value of `process.argv`. */
  arguments: string[];
  /** Receives standard output and standard error. */
  write(text: string): void;
  /** Ends the process. */
  exit(): void;
  /** Sends a request to AWS. The promise never settles if the process ends first. */
  send(request: HttpRequest, abortSignal?: AbortSignal): Promise<{ response: HttpResponse }>;
}

let machine: Machine | undefined;

/** Selects the machine that code sees until the next call. @default - the real machine */
export function switchTo(next?: Machine): void {
  machine = next;
}

const RealDate = Date;
class SimulatedDate extends RealDate {
  constructor(...parameters: unknown[]) {
    if (machine && parameters.length === 0) super(machine.now());
    else super(...(parameters as [number]));
  }

  static override now(): number {
    return machine ? machine.now() : RealDate.now();
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof RealDate;
  }
}
globalThis.Date = SimulatedDate as DateConstructor;

const realRandom = Math.random;
const random = (): number => (machine ? machine.random() : realRandom());
Math.random = random;

/** Timer of a simulated process. */
class SimulatedTimer {
  readonly cancel: () => void;
  constructor(cancel: () => void) {
    this.cancel = cancel;
  }
}

const realTimers = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
const timers = {
  setTimeout(act: (...values: unknown[]) => void, milliseconds = 0, ...values: unknown[]): unknown {
    if (!machine) return realTimers.setTimeout(act, milliseconds, ...values);
    // As in Node, delays are integers of at least 1.
    const delay = Math.max(1, Math.trunc(milliseconds));
    return new SimulatedTimer(machine.startTimer(delay, () => act(...values)));
  },
  clearTimeout(timer: unknown): void {
    if (timer instanceof SimulatedTimer) timer.cancel();
    else realTimers.clearTimeout(timer as NodeJS.Timeout);
  },
};
Object.assign(globalThis, timers);

const crypto = process.getBuiltinModule('node:crypto');
const { randomInt, randomUUID } = crypto;
const simulatedCrypto = {
  randomInt(...limits: [number] | [number, number]): number {
    if (!machine) return Reflect.apply(randomInt, crypto, limits) as number;
    const [least, end] = limits.length === 1 ? [0, limits[0]] : limits;
    return least + Math.floor(machine.random() * (end - least));
  },
  randomUUID(): string {
    if (!machine) return randomUUID();
    const digits = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  },
};
Object.assign(crypto, simulatedCrypto);
Object.assign(process.getBuiltinModule('node:timers'), timers);
const timerPromises = process.getBuiltinModule('node:timers/promises');
const realSleep = timerPromises.setTimeout;
Object.assign(timerPromises, {
  setTimeout: (milliseconds?: number, value?: unknown) =>
    machine
      ? new Promise((resolve) => timers.setTimeout(resolve, milliseconds, value))
      : realSleep(milliseconds, value),
});
process.getBuiltinModule('node:module').syncBuiltinESMExports();

process.env = new Proxy(process.env, {
  get: (variables, name: string) => machine?.environment[name] ?? variables[name],
});

const realArguments = process.argv;
Object.defineProperty(process, 'argv', { get: () => machine?.arguments ?? realArguments });

for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream) as (...parameters: unknown[]) => boolean;
  stream.write = (text: unknown, ...others: unknown[]): boolean => {
    if (!machine) return write(text, ...others);
    machine.write(String(text));
    return true;
  };
}
for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
  const print = console[method].bind(console);
  console[method] = (...values: unknown[]): void => {
    if (machine) machine.write(`${values.join(' ')}\n`);
    else print(...values);
  };
}

const realExit = process.exit.bind(process);
process.exit = (code?: number | string | null): never => {
  if (!machine) return realExit(code);
  machine.exit();
  throw new Error('The process has ended.');
};

// All requests of the SDK pass through this handler. It must be imported after the replacements above, because its modules
// keep what they import.
const { NodeHttpHandler } = await import('@smithy/node-http-handler');
const { handle: realHandle } = NodeHttpHandler.prototype as { handle: (...parameters: any[]) => any };
NodeHttpHandler.prototype.handle = function handle(request, options) {
  return machine
    ? machine.send(request, options?.abortSignal as AbortSignal | undefined)
    : Reflect.apply(realHandle, this, [request, options]);
};

const { AdaptiveRetryStrategy, DefaultRateLimiter, StandardRetryStrategy } =
  await import('@smithy/core/retry');

/**
 * Retry strategies of all clients of the SDK. `resetRetries` resets them, because their state would otherwise carry over from
 * one schedule to the next.
 */
const standard = new Set<InstanceType<typeof StandardRetryStrategy>>();
const adaptive = new Set<InstanceType<typeof AdaptiveRetryStrategy>>();

function record<S extends object>(prototype: S, name: keyof S, strategies: Set<S>): void {
  const method = prototype[name] as (...parameters: unknown[]) => unknown;
  prototype[name] = function recorded(this: S, ...parameters: unknown[]) {
    strategies.add(this);
    return Reflect.apply(method, this, parameters);
  } as S[keyof S];
}
record(StandardRetryStrategy.prototype, 'acquireInitialRetryToken', standard);
record(AdaptiveRetryStrategy.prototype, 'acquireInitialRetryToken', adaptive);

/** Gives each client of the SDK all of its retry tokens again, and makes it forget throttled requests. */
export function resetRetries(): void {
  for (const strategy of standard) Object.assign(strategy, { capacity: 500 });
  for (const strategy of adaptive) Object.assign(strategy, { rateLimiter: new DefaultRateLimiter() });
}
