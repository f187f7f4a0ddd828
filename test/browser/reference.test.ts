import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Browser, Locator, Page } from 'playwright-core';
import { sharedSynthesis } from '../support/assembly.ts';
import { advice, findChromium, launchBrowser } from '../support/browser.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { runModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

jest.setTimeout(120_000); // for a browser on a busy machine

const chromium = findChromium(process.env);
if (!chromium) console.warn(`${advice} The tests of the reference page are skipped.`);
const describeInBrowser = chromium ? describe : describe.skip;

/** UPDATE_SCREENSHOT renders the README's picture again. */
const isUpdate = Boolean(process.env['UPDATE_SCREENSHOT']);
const picture = fileURLToPath(new URL('../../docs/reference.png', import.meta.url));
const LARGEST = '9223372036854775807';

interface OpenPage {
  page: Page;
  /** URLs of all its requests. */
  requests: string[];
  /** Errors and warnings in the console, such as violations of the Content-Security-Policy. */
  complaints: string[];
}

let browser: Browser;

async function open(address: string): Promise<OpenPage> {
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

/** Returns the color of the page once it is in that mode: red, green and blue from 0 to 255. */
async function background(page: Page, mode: 'light' | 'dark'): Promise<number[]> {
  await page.locator(`body.${mode}-mode`).waitFor();
  const colour = await page.evaluate('getComputedStyle(document.body).backgroundColor');
  return (String(colour).match(/\d+/g) ?? []).map(Number);
}

async function overflow(page: Page): Promise<unknown> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

beforeAll(async () => {
  if (chromium) browser = await launchBrowser(chromium);
});
afterAll(() => browser?.close());

describeInBrowser('The page of the local service', () => {
  let service: LocalService;
  let opened: OpenPage;
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
    const shown = await lines.allInnerTexts();
    await client.getByRole('button', { name: 'Close Client' }).click();
    await client.waitFor({ state: 'hidden' });
    return { status, body: shown.join('\n') };
  }

  test('lists the operations, with the deprecated one struck out', async () => {
    const operations = sidebar(page).getByRole('link', { name: /HTTP Method/ });
    expect(await operations.allInnerTexts()).toEqual([
      expect.stringContaining('List all animals, newest first'),
      expect.stringContaining('Add an animal'),
      expect.stringContaining('Get an animal'),
    ]);
    const struckOut = sidebar(page).locator('.line-through');
    expect(await struckOut.allInnerTexts()).toEqual([expect.stringContaining('Get an animal')]);
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
    expect(status).toBe('200 OK');
    expect(body).toContain(`-${LARGEST}`);
    expect(body.replaceAll(/\s/g, '')).toBe(await get('/pets'));
  });

  test('follows the color scheme of the system, and changes it at a click', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(Math.max(...(await background(page, 'dark')))).toBeLessThan(50);
    await page.emulateMedia({ colorScheme: 'light' });
    expect(Math.min(...(await background(page, 'light')))).toBeGreaterThan(200);
    await sidebar(page).getByRole('button', { name: 'Set dark mode' }).click();
    expect(Math.max(...(await background(page, 'dark')))).toBeLessThan(50);
    await sidebar(page).getByRole('button', { name: 'Set light mode' }).click();
    expect(Math.min(...(await background(page, 'light')))).toBeGreaterThan(200);
  });

  test('fits a phone', async () => {
    const size = page.viewportSize()!;
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await overflow(page)).toBe(0);
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
    await page.addStyleTag({
      content: ':root { --scalar-font: "Liberation Sans", Arial, sans-serif !important }',
    });
    const section = await goTo(page, 'Add an animal');
    await section.getByText('403').first().waitFor();
    await page.evaluate('scrollBy(0, 70)');
    await page.screenshot({ path: picture });
  });
});

describeInBrowser('The exported page', () => {
  const folder = join(temporaryFolder(), 'docs');
  let opened: OpenPage;
  let page: Page;

  beforeAll(async () => {
    await runModule('infra/documents/reference/export.ts', ['--output', folder]);
    opened = await open(pathToFileURL(join(folder, 'index.html')).href);
    ({ page } = opened);
  });

  test('has samples with the address of production, and sends no requests', async () => {
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
