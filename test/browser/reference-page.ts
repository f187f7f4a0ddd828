import { existsSync } from 'node:fs';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import type { Operation } from '../../shared/contract/operations.ts';
import { productName } from '../../shared/names.ts';

const INSTALLATION_PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  chromium.executablePath(),
];

/**
 * Returns the path in the variable CHROMIUM or the path of an installed Chromium, or undefined if there is none.
 *
 * @throws Error if CI is `true` and Chromium is not installed.
 */
export function findChromium({ CHROMIUM, CI }: NodeJS.ProcessEnv): string | undefined {
  const found = CHROMIUM || INSTALLATION_PATHS.find((path) => existsSync(path));
  if (found) return found;
  const advice =
    'Chromium is not installed. Run apt-get install chromium or npx playwright-core install chromium, or set CHROMIUM to its path.';
  if (CI === 'true') throw new Error(advice);
  console.warn(`${advice} The tests of the reference page are skipped.`);
  return undefined;
}

export type ReferencePage = Awaited<ReturnType<typeof openReference>>;

export async function openReference(browser: Browser, url: string) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1024 } });
  const requests: string[] = [];
  // Errors and warnings include violations of the Content Security Policy.
  const problems: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  await page.goto(url);
  await page.getByRole('heading', { name: productName }).waitFor();
  return { page, requests, problems };
}

/** Returns the button that opens and closes an operation. */
export function operationButton(page: Page, { method, path, summary }: Operation): Locator {
  return page.getByRole('button', { name: `${method} ${path.replace('/v1', '')} ${summary}` });
}
