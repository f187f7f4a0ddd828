import type { Browser, Locator, Page } from 'playwright-core';

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
  await sidebar(page).getByRole('link', { name: 'Get an animal' }).waitFor();
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
