import { operations as contractOperations } from '../../shared/contract/operations.ts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Locator, Page } from 'playwright-core';
import { sharedSynthesis } from '../support/assembly.ts';
import { advice, findChromium, launchBrowser } from '../support/browser.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { runModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const chromium = findChromium(process.env);
if (!chromium) console.warn(`${advice} The tests of the reference page are skipped.`);
const describeInBrowser = chromium ? describe : describe.skip;

const isUpdate = Boolean(process.env['UPDATE_SCREENSHOT']);
const LARGEST = '9223372036854775807';

let browser: Browser;

/** Opens a page, and records the URLs of all its requests, and complaints: errors, warnings, violations of its policy. */
async function open(address: string) {
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

function sidebar(page: Page): Locator {
  return page.getByRole('complementary', { name: 'Sidebar for Pet store' });
}

/** Opens an operation from the sidebar. */
async function goTo(page: Page, operation: string): Promise<Locator> {
  await sidebar(page).getByRole('link', { name: operation }).click();
  const section = page.getByRole('region', { name: operation });
  await section.getByRole('heading', { name: operation }).waitFor();
  return section;
}

/** Returns the brightness of the page once it is in that mode, from 0 to 255. */
async function brightness(page: Page, mode: 'light' | 'dark'): Promise<number> {
  await page.locator(`body.${mode}-mode`).waitFor();
  const color = await page.evaluate('getComputedStyle(document.body).backgroundColor');
  return Math.max(...String(color).match(/\d+/g)!.map(Number));
}

beforeAll(async () => {
  if (chromium) browser = await launchBrowser(chromium);
});
afterAll(() => browser?.close());

describeInBrowser('The page of the local service', () => {
  let service: LocalService;
  let opened: Awaited<ReturnType<typeof open>>;
  let page: Page;

  beforeAll(async () => {
    const { assembly } = await sharedSynthesis();
    // The picture shows the default port.
    service = await startLocalService('--assembly', assembly, ...(isUpdate ? ['--port', '3000'] : []));
    const line = /In a browser, (\S+) shows/;
    await service.printed(line);
    opened = await open(line.exec(service.output())![1]!);
    ({ page } = opened);
  });
  afterAll(() => service?.stop());

  /** Returns the body of the API's response as text. */
  async function get(path: string): Promise<string> {
    const headers = { Authorization: `Bearer ${service.apiKey}` };
    return (await fetch(`${service.baseAddress}${path}`, { headers })).text();
  }

  /** Sends a request from the page, and returns the status and the body that the page shows. */
  async function tryOut(operation: string, body?: string): Promise<{ status: string; body: string }> {
    const section = await goTo(page, operation);
    await section.getByRole('button', { name: 'Test Request' }).click();
    const client = page.getByRole('dialog', { name: 'API Client' });
    if (body !== undefined) {
      const editor = client.getByRole('region', { name: 'Request Body' });
      await editor.getByRole('textbox').fill(body);
      await editor.getByRole('button', { name: 'Form' }).click();
      await editor.getByRole('combobox', { name: 'Body Value' }).getByText(LARGEST).waitFor();
      const sample = client.getByRole('region', { name: 'Code Snippet' });
      await sample.getByRole('button', { name: 'Code Snippet' }).click();
      await sample.getByText(`"categoryId": ${LARGEST}`).waitFor();
    }
    await client.getByRole('button', { name: /^Send (get|post) request to/ }).click();
    const response = client.getByRole('region', { name: 'Response' });
    const status = await response.getByRole('link', { name: /^\d{3} / }).innerText();
    const lines = response.getByRole('region', { name: 'Body', exact: true }).locator('.cm-line');
    await lines.first().waitFor();
    const shown = (await lines.allInnerTexts()).join('\n');
    await client.getByRole('button', { name: 'Close Client' }).click();
    await client.waitFor({ state: 'hidden' });
    return { status, body: shown };
  }

  test('lists the operations, with the deprecated one struck out', async () => {
    const operations = sidebar(page).getByRole('link', { name: /HTTP Method/ });
    const summaries = Object.values(contractOperations).map(({ summary }) => summary);
    expect(await operations.allInnerTexts()).toEqual(summaries.map((text) => expect.stringContaining(text)));
    const struckOut = await sidebar(page).locator('.line-through').allInnerTexts();
    expect(struckOut).toEqual([expect.stringContaining('Get an animal')]);
    const section = await goTo(page, 'Get an animal');
    expect(await section.getByText('Deprecated', { exact: true }).count()).toBeGreaterThan(0);
    expect(await section.innerText()).toContain('goes away on 5 December 2030');
  });

  test('sends a 64-bit integer exactly, and shows it exactly in the form, the code sample and the response', async () => {
    const { status, body } = await tryOut('Add an animal', `{"name":"Rex","categoryId":${LARGEST}}`);
    expect(status).toBe('201 Created');
    const id = /"id": (\d+)/.exec(body)?.[1];
    expect(await get(`/pets/${id}`)).toBe(`{"id":${id},"name":"Rex","categoryId":${LARGEST}}`);
    expect(body).toBe(`{\n  "id": ${id},\n  "name": "Rex",\n  "categoryId": ${LARGEST}\n}`);
  });

  test('shows the list exactly as the API returns it', async () => {
    await fetch(`${service.baseAddress}/pets`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.apiKey}`, 'Content-Type': 'application/json' },
      body: `{"name":"Mia","categoryId":-${LARGEST},"status":"sold"}`,
    });
    const { status, body } = await tryOut('List all animals');
    expect([status, body.replaceAll(/\s/g, '')]).toEqual(['200 OK', await get('/pets')]);
    expect(body).toContain(`-${LARGEST}`);
  });

  test('follows the color scheme of the system, and changes it at a click', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await brightness(page, 'dark')).toBeLessThan(50);
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await brightness(page, 'light')).toBeGreaterThan(200);
    await sidebar(page).getByRole('button', { name: 'Set dark mode' }).click();
    expect(await brightness(page, 'dark')).toBeLessThan(50);
    await sidebar(page).getByRole('button', { name: 'Set light mode' }).click();
    expect(await brightness(page, 'light')).toBeGreaterThan(200);
  });

  test('fits a phone', async () => {
    const size = page.viewportSize()!;
    await page.setViewportSize({ width: 390, height: 800 });
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate(overflow)).toBe(0);
    await page.setViewportSize(size);
  });

  test('violates no policy, and sends requests only to the service', () => {
    expect(opened.complaints).toEqual([]);
    const [first, ...more] = opened.requests.filter((url) => !url.startsWith('data:'));
    expect(first).toBe(new URL('/', service.baseAddress).href);
    expect(more).toEqual([`${service.baseAddress}/pets`, `${service.baseAddress}/pets`]);
  });

  (isUpdate ? test : test.skip)('renders the picture of the README', async () => {
    await page.setViewportSize({ width: 1440, height: 880 });
    // System fonts differ. These are close to most.
    const content = ':root { --scalar-font: "Liberation Sans", Arial, sans-serif !important }';
    await page.addStyleTag({ content });
    const section = await goTo(page, 'Add an animal');
    await section.getByText('403').first().waitFor();
    await page.evaluate('scrollBy(0, 70)');
    await page.screenshot({ path: 'docs/reference.png' });
  });
});

describeInBrowser('The exported page', () => {
  const folder = join(temporaryFolder(), 'docs');
  let opened: Awaited<ReturnType<typeof open>>;

  beforeAll(async () => {
    await runModule('infra/documents/reference/export.ts', ['--output', folder]);
    opened = await open(pathToFileURL(join(folder, 'index.html')).href);
  });

  test('has samples with the address of production, and sends no requests', async () => {
    const { page } = opened;
    const section = await goTo(page, 'Add an animal');
    await section.getByText('https://petstore.example.com/v1/pets').first().waitFor();
    expect(await page.getByRole('button', { name: 'Test Request' }).count()).toBe(0);
    expect(await page.getByRole('textbox', { name: 'Bearer Token' }).count()).toBe(0);
  });

  test('violates no policy, and loads nothing else', () => {
    expect(opened.complaints).toEqual([]);
    expect(opened.requests).toEqual([expect.stringMatching(/^file:.*\/index\.html$/)]);
  });
});
