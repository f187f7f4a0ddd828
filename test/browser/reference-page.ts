import { existsSync } from 'node:fs';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';

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

export interface ReferencePage {
  page: Page;
  /** URLs of all requests of the page. */
  requests: string[];
  /** Errors, warnings and violations of the page's policy. */
  complaints: string[];
}

/** Opens a reference page, and waits until it is rendered. */
export async function openReference(browser: Browser, address: string): Promise<ReferencePage> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  await page.goto(address);
  await sidebar(page).getByRole('link', { name: 'Get a pet' }).waitFor();
  return { page, requests, complaints };
}

export function sidebar(page: Page): Locator {
  return page.getByRole('complementary', { name: 'Sidebar for Pet store' });
}

/** Opens an operation from the sidebar. */
export async function goTo(page: Page, operation: string): Promise<Locator> {
  await sidebar(page).getByRole('link', { name: operation }).click();
  const section = page.getByRole('region', { name: operation });
  await section.getByRole('heading', { name: operation }).waitFor();
  return section;
}
