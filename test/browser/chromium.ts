import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

// Nothing that the browser itself sends, such as a search for updates, may leave the machine or take time.
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

/**
 * @returns the path of a Chromium: that of the variable CHROMIUM, or else the first one installed; undefined if there is none
 * @throws Error if CHROMIUM is not the path of a file, and without a Chromium if CI is `true`, as nothing is skipped there.
 */
export function findChromium({ CHROMIUM, CI }: NodeJS.ProcessEnv): string | undefined {
  if (CHROMIUM && !existsSync(CHROMIUM)) throw new Error(`CHROMIUM is not the path of a file: ${CHROMIUM}.`);
  const found = CHROMIUM || PLACES.find((path) => existsSync(path));
  if (found) return found;
  const advice =
    'There is no Chromium: run apt-get install chromium or npx playwright-core install chromium, or set CHROMIUM to the path of one.';
  if (CI === 'true') throw new Error(advice);
  console.warn(`${advice} The tests of the reference page are skipped.`);
  return undefined;
}

export function launchBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ARGUMENTS });
}
