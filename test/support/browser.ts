import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

// Nothing of the browser's own, an update for instance, may leave the machine or take time.
const ARGUMENTS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  chromium.executablePath(),
];

/** How to get a Chromium where there is none. */
export const advice =
  'There is no Chromium: run apt-get install chromium or npx playwright-core install chromium, or set CHROMIUM to the path of one.';

/**
 * The Chromium of this machine: the one that the variable CHROMIUM names, else an installed one, else playwright's own.
 *
 * @returns its path; undefined when there is none.
 * @throws Error when CHROMIUM names no file, and for want of a Chromium where CI is `true`: nothing may be skipped there.
 */
export function findChromium(environment: NodeJS.ProcessEnv, places = PLACES): string | undefined {
  const { CHROMIUM: named, CI } = environment;
  if (named !== undefined && !existsSync(named)) throw new Error(`CHROMIUM names no file: ${named}.`);
  const found = named ?? places.find((path) => existsSync(path));
  if (found === undefined && CI === 'true') throw new Error(advice);
  return found;
}

export function launchBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ARGUMENTS });
}
