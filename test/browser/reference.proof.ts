import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Locator } from 'playwright-core';
import { type Operation, operations } from '../../shared/contract/operations.ts';
import { NewPet } from '../../shared/contract/schemas.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import {
  findChromium,
  goTo,
  launchBrowser,
  openReference,
  type ReferencePage,
  sidebar,
} from './reference-page.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { runModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const chromium = findChromium(process.env);
const isUpdate = Boolean(process.env['UPDATE_SCREENSHOT']);
const LARGEST = '9223372036854775807';
const { createPet } = operations;
const exportFolder = join(temporaryFolder(), 'docs');

let browser: Browser;
let service: LocalService;
let served: ReferencePage;
let exported: ReferencePage;

async function call(path: string, init?: RequestInit): Promise<string> {
  return (await service.request(path, init)).text();
}

async function openClient(operation: string): Promise<Locator> {
  const section = await goTo(served.page, operation);
  await section.getByRole('button', { name: 'Test Request' }).click();
  return served.page.getByRole('dialog', { name: 'API Client' });
}

/** Sends the request. Returns the body that the browser sends, and the status and body that the page shows. */
async function send(client: Locator): Promise<{ sent: string | null; status: string; body: string }> {
  const request = served.page.waitForRequest(`${service.baseUrl}/pets`);
  await client.getByRole('button', { name: /^Send (get|post) request to/ }).click();
  const response = client.getByRole('region', { name: 'Response' });
  const status = await response.getByRole('link', { name: /^\d{3} / }).innerText();
  const lines = response.getByRole('region', { name: 'Body', exact: true }).locator('.cm-line');
  await lines.first().waitFor();
  const shown = (await lines.allInnerTexts()).join('\n');
  await client.getByRole('button', { name: 'Close Client' }).click();
  await client.waitFor({ state: 'hidden' });
  return { sent: (await request).postData(), status, body: shown };
}

async function renderPicture({ page }: ReferencePage): Promise<void> {
  await page.setViewportSize({ width: 1440, height: 880 });
  // Default fonts differ between machines, so the screenshot uses fonts that are common to most machines.
  const content = ':root { --scalar-font: "Liberation Sans", Arial, sans-serif !important }';
  await page.addStyleTag({ content });
  const section = await goTo(page, createPet.summary);
  await section.getByText('403').first().waitFor();
  await page.evaluate('scrollBy(0, 70)');
  await page.screenshot({ path: 'docs/reference.png' });
}

(chromium ? describe : describe.skip)('the reference page', () => {
  beforeAll(async () => {
    browser = await launchBrowser(chromium!);
    const { assembly } = await sharedSynthesis();
    // The screenshot shows the base URL, so it is updated with the default port.
    service = await startLocalService('--assembly', assembly, ...(isUpdate ? ['--port', '3000'] : []));
    const line = /Open (\S+) in a browser/;
    await service.printed(line);
    served = await openReference(browser, line.exec(service.output())![1]!);
    await runModule('infra/documents/reference/export.ts', ['--output', exportFolder]);
    exported = await openReference(browser, pathToFileURL(join(exportFolder, 'index.html')).href);
  });
  afterAll(async () => {
    if (isUpdate) await renderPicture(served);
    await browser?.close();
    await service?.stop();
  });

  test('lists the operations and strikes out deprecated operations', async () => {
    const { page } = served;
    const links = await sidebar(page)
      .getByRole('link', { name: /HTTP Method/ })
      .allInnerTexts();
    const summaries = Object.values(operations).map(({ summary }) => expect.stringContaining(summary));
    expect(links).toEqual(summaries);
    const struckOut = await sidebar(page).locator('.line-through').allInnerTexts();
    const deprecated = Object.values<Operation>(operations).filter(({ deprecation }) => deprecation);
    expect(struckOut).toEqual(deprecated.map(({ summary }) => expect.stringContaining(summary)));
    for (const { summary, deprecation } of deprecated) {
      const day = deprecation!.sunset.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
      const section = await goTo(page, summary);
      await section.getByText('Deprecated', { exact: true }).first().waitFor();
      expect(await section.innerText()).toContain(`will be removed on ${day}`);
    }
  });

  test('sends and shows 64-bit integers without rounding them', async () => {
    const client = await openClient(createPet.summary);
    const editor = client.getByRole('region', { name: 'Request Body' });
    const text = `{"name":"Rex","categoryId":${LARGEST}}`;
    await editor.getByRole('textbox').fill(text);
    await editor.getByRole('button', { name: 'Form' }).click();
    await editor.getByRole('combobox', { name: 'Body Value' }).getByText(LARGEST).waitFor();
    const sample = client.getByRole('region', { name: 'Code Snippet' });
    await sample.getByRole('button', { name: 'Code Snippet' }).click();
    await sample.getByText(`"categoryId": ${LARGEST}`).waitFor();
    const { sent, status, body } = await send(client);
    expect([sent, status]).toEqual([text, '201 Created']);
    const id = /"id": (\d+)/.exec(body)?.[1];
    expect(await call(`/pets/${id}`)).toBe(`{"id":${id},"name":"Rex","categoryId":${LARGEST}}`);
    expect(body).toBe(`{\n  "id": ${id},\n  "name": "Rex",\n  "categoryId": ${LARGEST}\n}`);
  });

  test('sends 64-bit integers from form fields as strings', async () => {
    const client = await openClient(createPet.summary);
    const editor = client.getByRole('region', { name: 'Request Body' });
    await editor.getByRole('button', { name: 'Form', exact: true }).click();
    const position = Object.keys(NewPet.entries).indexOf('categoryId');
    await editor.getByRole('combobox', { name: 'Body Value' }).nth(position).fill(`-${LARGEST}`);
    expect((await send(client)).sent).toContain(`"categoryId": "-${LARGEST}"`);
  });

  test('supports dark mode and phone screens', async () => {
    const { page } = served;
    async function expectMode(mode: string, isBright: boolean): Promise<void> {
      await page.locator(`body.${mode}-mode`).waitFor();
      const color = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      expect(Math.max(...String(color).match(/\d+/g)!.map(Number)) > 128).toBe(isBright);
    }
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectMode('dark', false);
    await page.emulateMedia({ colorScheme: 'light' });
    await expectMode('light', true);
    await sidebar(page).getByRole('button', { name: 'Set dark mode' }).click();
    await expectMode('dark', false);
    await sidebar(page).getByRole('button', { name: 'Set light mode' }).click();
    await expectMode('light', true);
    const size = page.viewportSize()!;
    await page.setViewportSize({ width: 390, height: 800 });
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate(overflow)).toBe(0);
    await page.setViewportSize(size);
  });

  test("shows all of an operation's statuses, even on a phone screen", async () => {
    const { page } = served;
    const size = page.viewportSize()!;
    const list = (await goTo(page, createPet.summary)).getByRole('tablist');
    const mask = "getComputedStyle(document.querySelector('.tab-list')).maskImage";
    for (const width of [size.width, 390]) {
      await page.setViewportSize({ ...size, width });
      const box = (await list.boundingBox())!;
      const last = (await list.getByRole('tab', { name: '504' }).boundingBox())!;
      expect(last.x + last.width).toBeLessThanOrEqual(box.x + box.width);
      expect(last.y + last.height).toBeLessThanOrEqual(box.y + box.height);
      expect(await page.evaluate(mask)).toBe('none');
    }
    await page.setViewportSize(size);
  });

  test('shows the production base URL and no request form if it is exported', async () => {
    const section = await goTo(exported.page, createPet.summary);
    await section.getByText('https://petstore.example.com/v1/pets').first().waitFor();
    await exported.page.getByRole('link', { name: /Guarantees, limits/ }).waitFor();
    expect(await exported.page.getByRole('button', { name: 'Test Request' }).count()).toBe(0);
    expect(await exported.page.getByRole('textbox', { name: 'Bearer Token' }).count()).toBe(0);
  });

  test('causes no unexpected errors or requests', () => {
    const of400 = expect.stringMatching(/status of 400/); // This error is caused by the test that submits the form.
    expect([...served.problems, ...exported.problems]).toEqual([of400]);
    const [pageUrl, pets] = [new URL('/', service.baseUrl).href, `${service.baseUrl}/pets`];
    expect(served.requests.filter((url) => !url.startsWith('data:'))).toEqual([pageUrl, pets, pets]);
    expect(exported.requests).toEqual([expect.stringMatching(/^file:.*\/index\.html$/)]);
  });
});
