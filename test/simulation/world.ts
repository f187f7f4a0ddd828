import type { HttpRequest, HttpResponse } from '@smithy/core/transport';
import { type Machine, resetRetries, switchTo } from './machine.ts';
import { showStep } from './watchdog.ts';

// A world runs several processes in one thread. They communicate only with messages, and a schedule decides which
// message arrives next, whether the next timer ends before it, what gets lost, and which process is killed. Between two
// decisions, the code runs until it waits for a message or a timer. The same schedule therefore always has the same
// result.

/** The time at which a world starts: noon UTC on 1 March 2026. */
export const START = Date.parse('2026-03-01T12:00:00Z');

/** Settings of the SDK in all processes. */
const awsEnvironment = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'simulated',
  AWS_SECRET_ACCESS_KEY: 'simulated',
};

/** Steps after which a schedule is considered endless. The longest schedules of the scopes have a few hundred steps. */
const MAX_STEPS = 5_000;

export interface Process {
  name: string;
  environment: Record<string, string>;
  /** Milliseconds by which the clock is fast. Negative if it is slow. */
  skew: number;
  isAlive: boolean;
  /** Whether a schedule can kill the process while it waits. */
  isKillable: boolean;
  /** Whether the function has responded to its last request, so that it must not write any more. */
  hasResponded: boolean;
  /** What the process printed. */
  output: string;
}

/** A message in transit. */
export interface Message {
  text: string;
  /** The process that the message activates. */
  process: Process;
  /** What can happen to the message. The first fate is the usual one. */
  fates: readonly string[];
  deliver: (fate: string) => void;
}

/** An event that a schedule can choose whenever it is possible. */
export interface Disturbance {
  text: string;
  isPossible: () => boolean;
  act: () => void;
}

interface Timer {
  end: number;
  process: Process;
  act: () => void;
}

/** A statement that does not hold. The message names the statement and what happened instead. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/**
 * Waits until the running process waits for a message or a timer. Its promise callbacks run before `setImmediate` calls
 * back.
 */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/**
 * Sends the first request of a client of the SDK, which gets an empty response. Clients read files before their first
 * request. No schedule controls how long this takes, so the first request is sent before any world starts.
 */
export function sendFirstRequest(
  act: () => Promise<unknown>,
  environment: Record<string, string> = {},
): Promise<void> {
  const body = [Buffer.from('{}')];
  const machine: Machine = {
    now: () => START,
    startTimer: () => () => {},
    random: () => 0,
    environment: { ...awsEnvironment, ...environment },
    arguments: [],
    write: () => {},
    exit: () => {},
    send: async () => ({ response: { statusCode: 200, headers: {}, body } }),
  };
  // Modules with a top-level `await` can be evaluated at the same time, but code sees only one machine. First requests
  // are therefore sent one after another.
  const send = async (before: Promise<void>) => {
    await before;
    switchTo(machine);
    await act();
    switchTo();
  };
  firstRequests = send(firstRequests);
  return firstRequests;
}

let firstRequests = Promise.resolve();

/**
 * Checks a statement about the result of a world.
 *
 * @param found values that show why the statement does not hold
 * @throws Violation if the statement does not hold
 */
export function require(holds: boolean, statement: string, found: object): void {
  if (holds) return;
  const text = JSON.stringify(found, (_key, value) => (typeof value === 'bigint' ? `${value}` : value));
  throw new Violation(`Does not hold: ${statement} ${text}`);
}

export type World = ReturnType<typeof createWorld>;

/** Sends a request of a process to AWS. */
export type Network = (
  sender: Process,
  request: HttpRequest,
  abortSignal: AbortSignal | undefined,
) => Promise<{ response: HttpResponse }>;

export interface WorldSettings {
  /** Name of the scope, which the watchdog prints if a step does not end. */
  name?: string;
  /** Time that each message takes. */
  millisecondsPerStep?: number;
  /** Number of different random numbers. With few numbers, processes often generate the same ids. */
  randomNumbers?: number;
  /** Integer that determines the random numbers. @default 1 */
  seed?: number;
}

/** Returns the position of the chosen option. The first option is what usually happens. */
export type Decide = (options: readonly string[]) => number;

export function createWorld(
  decide: Decide,
  {
    name: scope = '',
    millisecondsPerStep = 2,
    randomNumbers = Infinity,
    seed: firstSeed = 1,
  }: WorldSettings = {},
) {
  let time = START;
  let seed = firstSeed;
  let messages: Message[] = [];
  let timers: Timer[] = [];
  let network: Network;
  const processes: Process[] = [];
  const disturbances: Disturbance[] = [];
  const onKill = new Map<Process, (() => void)[]>();
  const unfinished = new Set<string>();
  let violation: Error | undefined;

  /** For each decision, the number of options, and the position of the chosen option. */
  const decisions: { options: number; choice: number }[] = [];
  /** The choices, in the format of the option `--schedule`. */
  let schedule = '';
  /** One line for each event. */
  const lines: string[] = [];

  function note(text: string): void {
    lines.push(`${((time - START) / 1_000).toFixed(3).padStart(10)} s  ${text}`);
  }

  function choose(options: readonly string[]): number {
    if (options.length < 2) return 0;
    const choice = decide(options);
    decisions.push({ options: options.length, choice });
    schedule += `${schedule && '.'}${choice}`;
    return choice;
  }

  /** Returns a random number (Park and Miller's generator). */
  function random(): number {
    seed = (seed * 48_271) % 2_147_483_647;
    const number = seed / 2_147_483_647;
    return randomNumbers === Infinity ? number : Math.floor(number * randomNumbers) / randomNumbers;
  }

  function kill(process: Process): void {
    process.isAlive = false;
    messages = messages.filter((message) => message.process !== process || message.fates[0] !== 'starts');
    timers = timers.filter((timer) => timer.process !== process);
    for (const act of onKill.get(process) ?? []) act();
  }

  function machineOf(process: Process): Machine {
    return {
      now: () => time + process.skew,
      startTimer(milliseconds, act) {
        const timer = { end: time + milliseconds, process, act };
        timers.push(timer);
        return () => void (timers = timers.filter((one) => one !== timer));
      },
      random,
      environment: { ...awsEnvironment, ...process.environment },
      write: (text) => void (process.output += text),
      exit: () => kill(process),
      arguments: ['node', process.name],
      send: (request, abortSignal) => {
        return network(process, request, abortSignal);
      },
    };
  }

  function deliver(message: Message, fate: string): void {
    messages = messages.filter((one) => one !== message);
    time += millisecondsPerStep;
    switchTo(machineOf(message.process));
    message.deliver(fate);
  }

  function end(timer: Timer): void {
    timers = timers.filter((one) => one !== timer);
    time = Math.max(time, timer.end);
    switchTo(machineOf(timer.process));
    timer.act();
  }

  /**
   * Returns what can happen next. The first option is what usually happens: the arrival of the oldest message, or else
   * the end of the next timer, or else the end of the run.
   */
  function nextOptions(): { text: string; act: () => void }[] {
    const arrivals = messages.map((message) => ({
      text: message.text,
      act: () => deliver(message, message.fates[0]!),
    }));
    const next = timers.toSorted((one, other) => one.end - other.end).at(0);
    const ends = next ? [{ text: `${next.process.name}: a timer ends`, act: () => end(next) }] : [];
    const faults = messages.flatMap((message) =>
      message.fates
        .slice(1)
        .map((fate) => ({ text: `${message.text} ${fate}`, act: () => deliver(message, fate) })),
    );
    const busy = new Set([...messages, ...timers].map(({ process }) => process));
    const kills = processes
      .filter((process) => process.isKillable && process.isAlive && busy.has(process))
      .map((process) => ({ text: `${process.name} is killed`, act: () => kill(process) }));
    const possible = disturbances.filter(({ isPossible }) => isPossible());
    return arrivals.length + ends.length > 0
      ? [...arrivals, ...ends, ...faults, ...kills, ...possible]
      : possible.length > 0
        ? [{ text: 'The end', act: () => {} }, ...possible]
        : [];
  }

  return {
    processes,
    disturbances,
    /** Returns the position of the option that the schedule chooses. */
    choose(options: readonly string[]): number {
      const choice = choose(options);
      if (choice > 0) note(`  ${options[choice]!}`);
      return choice;
    },
    note,
    now: () => time,

    /** Ends the run with a violation, which the code under test cannot catch, unlike an exception. */
    fail(message: string): void {
      violation ??= new Violation(message);
    },

    setNetwork(next: Network): void {
      network = next;
    },

    addProcess(name: string, settings: Partial<Process> = {}): Process {
      const process = {
        name,
        environment: {},
        skew: 0,
        isAlive: true,
        isKillable: false,
        hasResponded: false,
        output: '',
        ...settings,
      };
      processes.push(process);
      return process;
    },

    post(message: Message): void {
      messages.push(message);
    },

    /** Sends a message that arrives after a number of milliseconds, even if its sender is killed. */
    postAfter(milliseconds: number, message: Message): void {
      const act = () => message.deliver(message.fates[0]!);
      timers.push({ end: time + milliseconds, process: message.process, act });
      note(`${message.text}, in ${milliseconds / 1_000} s`);
    },

    /** Calls `act` if the process is killed. */
    onKill(process: Process, act: () => void): void {
      onKill.set(process, [...(onKill.get(process) ?? []), act]);
    },

    /** Starts the work of a process, which must end unless the process is killed. */
    start(process: Process, what: string, act: () => Promise<void>): void {
      const text = `${process.name}: ${what}`;
      unfinished.add(text);
      const run = async () => {
        try {
          await act();
          unfinished.delete(text);
        } catch (error) {
          if (process.isAlive) violation ??= error as Error;
        }
      };
      messages.push({ text, process, fates: ['starts'], deliver: () => void run() });
      this.onKill(process, () => unfinished.delete(text));
    },

    /**
     * Runs the processes until no message is in transit and no timer runs.
     *
     * @throws Violation if a process does not end, and the first error with which a process fails
     */
    async run(): Promise<void> {
      // The SDK's rate limiters read the clock when they are created.
      switchTo(machineOf(processes[0]!));
      resetRetries();
      switchTo();
      try {
        for (let step = 0; ; step += 1) {
          const options = nextOptions();
          if (options.length === 0) break;
          if (step === MAX_STEPS) throw new Violation('The processes do not end.');
          const { text, act } = options[choose(options.map((option) => option.text))]!;
          showStep(
            `Step: ${text}\nTo replay: npm run simulate -- --scope '${scope}' --schedule ${schedule || 0}`,
          );
          try {
            act();
          } finally {
            note(text);
          }
          if (text === 'The end') break;
          await settled();
          switchTo();
          if (violation) throw violation;
        }
      } finally {
        switchTo();
        showStep('');
      }
      if (unfinished.size > 0) throw new Violation(`These did not end: ${[...unfinished].join(', ')}.`);
    },

    /** The decisions of the run until now, and one line for each event. */
    report: () => ({ decisions, lines }),
  };
}
