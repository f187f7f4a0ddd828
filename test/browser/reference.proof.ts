import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page, type Request } from 'playwright-core';
import { PRODUCTION_DOMAIN } from '../../infra/documents/openapi/headers.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { INT64 } from '../../shared/contract/limits.ts';
import { type Operation, operations } from '../../shared/contract/operations.ts';
import { findChromium, openReference, operationButton, type ReferencePage } from './reference-page.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { runModule } from '../support/run-command.ts';
import { create, integerField, itemsPath, list, validBody } from '../support/sample.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const executablePath = findChromium(process.env);
const isUpdate = Boolean(process.env['UPDATE_SCREENSHOT']);
const item = { ...validBody, [integerField]: INT64.maximum };
const STRUCK_OUT = `[...new Set([...document.querySelectorAll('button *')]
  .filter((part) => getComputedStyle(part).textDecoration.includes('line-through'))
  .map((part) => part.innerText))]`;
const exportFolder = join(temporaryFolder(), 'docs');

let browser: Browser;
let service: LocalService;
let served: ReferencePage;
let exported: ReferencePage;

/** Executes the open operation. Returns the request, and the status and body that the page shows. */
async function execute(page: Page, press: () => Promise<void>) {
  const sent = page.waitForRequest((request) => request.url().startsWith(service.baseUrl));
  await press();
  const request: Request = await sent;
  const row = page.getByRole('row', { name: /Response headers/ });
  const [status] = (await row.innerText()).split(/\s/);
  return { request, status, body: await row.getByRole('code').first().innerText() };
}

async function close(page: Page, operation: Operation): Promise<void> {
  await operationButton(page, operation).click();
  await page.getByRole('button', { name: 'Execute' }).waitFor({ state: 'hidden' });
}

async function renderPicture(page: Page): Promise<void> {
  await page.reload();
  await operationButton(page, list).click();
  await page.getByRole('button', { name: 'Try it out' }).click();
  await page.evaluate('scrollTo(0, 0)');
  await page.screenshot({ path: 'docs/reference.png' });
}

(executablePath ? describe : describe.skip)('the reference page', () => {
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executablePath! });
    // Uses the default port to update the screenshot, because the screenshot shows the base URL.
    service = await startLocalService(...(isUpdate ? ['--port', '3000'] : []));
    const [, url = ''] = await service.printed(/Open (\S+) in a browser/);
    served = await openReference(browser, url);
    await runModule('infra/documents/reference/export.ts', ['--output', exportFolder]);
    exported = await openReference(browser, pathToFileURL(join(exportFolder, 'index.html')).href);
  });
  afterAll(async () => {
    if (isUpdate) await renderPicture(served.page);
    await browser?.close();
    await service?.stop();
  });

  test('lists the operations, strikes out deprecated operations and shows when they will be removed', async () => {
    const all = Object.values<Operation>(operations);
    const deprecated = all.filter(({ deprecation }) => deprecation);
    for (const { page } of [served, exported]) {
      for (const operation of all) await operationButton(page, operation).waitFor();
      const struckOut = deprecated.map(({ path }) => path.replace('/v1', ''));
      expect(await page.evaluate(STRUCK_OUT)).toEqual(struckOut);
      for (const operation of deprecated) {
        const { sunset } = operation.deprecation!;
        const day = sunset.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
        await operationButton(page, operation).click();
        await page.getByText(`will be removed on ${day}`).waitFor();
        await operationButton(page, operation).click();
      }
    }
  });

  test('sends and shows 64-bit integers without rounding them', async () => {
    const { page } = served;
    await operationButton(page, create).click();
    await page.getByRole('button', { name: 'Try it out' }).click();
    const text = stringifyJson(item);
    await page.getByRole('tabpanel', { name: 'Edit Value' }).getByRole('textbox').fill(text);
    const { request, status, body } = await execute(page, () =>
      page.getByRole('button', { name: 'Execute' }).click(),
    );
    expect([request.postData(), status]).toEqual([text, '201']);
    const [, id = ''] = /"id": (\d+)/.exec(body)!;
    const stored = { id: BigInt(id), ...item };
    expect(body).toBe(stringifyJson(stored, 2));
    const response = await service.request(`${itemsPath}/${id}`);
    expect(await response.text()).toBe(stringifyJson(stored));
    const { authorization, 'idempotency-key': key } = request.headers();
    expect([authorization, key]).toEqual([`Bearer ${service.apiKey}`, undefined]);
    await close(page, create);
  });

  test('can send a request with the keyboard alone, without optional parameters', async () => {
    const { page } = served;
    async function press(name: RegExp): Promise<void> {
      const focused = page.locator(':focus');
      do await page.keyboard.press('Tab');
      while (!name.test((await focused.allInnerTexts()).join()));
      await page.keyboard.press('Enter');
    }
    await press(new RegExp(list.summary));
    await press(/Try it out/);
    const { request, status, body } = await execute(page, () => press(/Execute/));
    expect([request.url(), status]).toEqual([`${service.baseUrl}${itemsPath}`, '200']);
    expect(body).toContain(`"${integerField}": ${INT64.maximum}`);
    await close(page, list);
  });

  test('is read-only if it is exported, and then explains how to send requests', async () => {
    const { page } = exported;
    await operationButton(page, create).click();
    await page.getByText('"invalid_request"').waitFor();
    await page.getByRole('tab', { name: 'Schema' }).last().click();
    await page.getByText('Error message for people.').waitFor();
    const buttons = await page.getByRole('button').allInnerTexts();
    expect(buttons.filter((name) => /Authorize|Try it out|Execute/.test(name))).toEqual([]);
    expect(await page.getByText('To send requests from it, run npm start').count()).toBe(1);
    expect(await page.getByText(`https://${PRODUCTION_DOMAIN}/v1`, { exact: true }).count()).toBe(1);
    await page.getByRole('link', { name: /Guarantees, limits/ }).waitFor();
  });

  test('causes no errors, and no requests except those in these tests', () => {
    expect([...served.problems, ...exported.problems]).toEqual([]);
    const requested = `${service.baseUrl}${itemsPath}`;
    expect(served.requests).toEqual([new URL('/', service.baseUrl).href, requested, requested]);
    expect(exported.requests).toEqual([expect.stringMatching(/^file:.*\/index\.html$/)]);
  });
});
