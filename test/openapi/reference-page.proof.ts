import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Locator, type Page, type Request } from 'playwright-core';
import { PRODUCTION_DOMAIN } from '../../infra/openapi/headers.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import type { Operation } from '../../shared/contract/operation.ts';
import { collections, operations } from '../../shared/contract/operations.ts';
import { productName } from '../../shared/names.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { newPet } from '../support/pets.ts';
import { runModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const { create, list } = collections[0].operations;

const INSTALLATION_PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  chromium.executablePath(),
];

const executablePath = findChromium(process.env);
/** A pet with an integer that a double cannot represent. */
const pet = newPet('Rex', { categoryId: 9223372036854775807n });
const STRUCK_OUT = `[...new Set([...document.querySelectorAll('button *')]
  .filter((part) => getComputedStyle(part).textDecoration.includes('line-through'))
  .map((part) => part.innerText))]`;
const exportFolder = join(temporaryFolder(), 'docs');

type ReferencePage = Awaited<ReturnType<typeof openReference>>;

let browser: Browser;
let service: LocalService;
let served: ReferencePage;
let exported: ReferencePage;
let stored: object;

/**
 * Finds Chromium at the path in the environment variable CHROMIUM, or else at one of the usual paths.
 *
 * @returns the path, or undefined if Chromium was not found
 * @throws Error if Chromium was not found and the environment variable CI is `true`
 */
function findChromium({ CHROMIUM, CI }: NodeJS.ProcessEnv): string | undefined {
  const found = CHROMIUM || INSTALLATION_PATHS.find((path) => existsSync(path));
  if (found) return found;
  const advice =
    'Chromium is not installed. Run apt-get install chromium or npx playwright-core install chromium, or set CHROMIUM to its path.';
  if (CI === 'true') throw new Error(advice);
  console.warn(`${advice} The tests of the reference page are skipped.`);
  return undefined;
}

async function openReference(url: string) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1024 } });
  const requests: string[] = [];
  /** Errors and warnings of the page, such as violations of the Content Security Policy. */
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
function operationButton(page: Page, { method, path, summary }: Operation): Locator {
  return page.getByRole('button', { name: `${method} ${path.replace('/v1', '')} ${summary}` });
}

/** Calls `press`, which must press Execute. Returns the request, and the response's status and body on the page. */
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

(executablePath ? describe : describe.skip)('the reference page', () => {
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executablePath! });
    service = await startLocalService();
    const [, url = ''] = await service.printed(/Open (\S+) in a browser/);
    served = await openReference(url);
    await runModule('infra/openapi/export.ts', ['--output', exportFolder]);
    exported = await openReference(pathToFileURL(join(exportFolder, 'index.html')).href);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  test('lists the operations, strikes out deprecated operations and shows when they will be removed', async () => {
    const all = Object.values<Operation>(operations);
    const deprecated = all.filter(({ deprecation }) => deprecation);
    for (const { page } of [served, exported]) {
      for (const operation of all) await operationButton(page, operation).waitFor();
      expect(await page.evaluate(STRUCK_OUT)).toEqual(deprecated.map(({ path }) => path.replace('/v1', '')));
      for (const { deprecation, ...operation } of deprecated) {
        await operationButton(page, operation).click();
        const day = deprecation!.sunset.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
        await page.getByText(`will be removed on ${day}`).waitFor();
        await operationButton(page, operation).click();
      }
    }
  });

  test('sends and shows 64-bit integers without rounding them', async () => {
    const { page } = served;
    await operationButton(page, create).click();
    await page.getByRole('button', { name: 'Try it out' }).click();
    const text = stringifyJson(pet);
    await page.getByRole('tabpanel', { name: 'Edit Value' }).getByRole('textbox').fill(text);
    const executeButton = page.getByRole('button', { name: 'Execute' });
    const { request, status, body } = await execute(page, () => executeButton.click());
    expect([request.postData(), status]).toEqual([text, '201']);
    const [, id = ''] = /"id": (\d+)/.exec(body)!;
    stored = { id: BigInt(id), ...pet };
    expect(body).toBe(stringifyJson(stored, 2));
    const response = await service.request(`/pets/${id}`);
    expect(await response.text()).toBe(stringifyJson(stored));
    const { authorization, 'idempotency-key': key } = request.headers();
    expect([authorization, key]).toEqual([`Bearer ${service.apiKey}`, undefined]);
    await close(page, create);
  });

  test('can be used with the keyboard alone and omits empty parameters from requests', async () => {
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
    expect([request.url(), status]).toEqual([`${service.baseUrl}/pets`, '200']);
    expect(body).toBe(stringifyJson([stored], 2));
    await close(page, list);
  });

  test('has dark colors in browsers that prefer them', async () => {
    const { page } = exported;
    const background = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    expect(await background()).toBe('rgba(0, 0, 0, 0)');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('html.dark-mode').waitFor();
    expect(await background()).toBe('rgb(28, 32, 34)');
    await page.emulateMedia({ colorScheme: 'light' });
    await page.locator('html:not(.dark-mode)').waitFor();
  });

  test('is read-only and explains how to send requests if it was exported', async () => {
    const { page } = exported;
    await operationButton(page, create).click();
    await page.getByText('"invalid_request"').waitFor();
    await page.getByRole('tab', { name: 'Schema' }).last().click();
    await page.getByText('Error message for people.').waitFor();
    const buttons = await page.getByRole('button').allInnerTexts();
    expect(buttons.filter((name) => /Authorize|Try it out|Execute/.test(name))).toEqual([]);
    expect(await page.getByText('To send requests, run npm start').count()).toBe(1);
    expect(await page.getByText(`https://${PRODUCTION_DOMAIN}/v1`, { exact: true }).count()).toBe(1);
    await page.getByRole('link', { name: /Guarantees, limits/ }).waitFor();
  });

  test('causes no errors or warnings, and sends no requests other than those of these tests', () => {
    expect([...served.problems, ...exported.problems]).toEqual([]);
    const requested = `${service.baseUrl}/pets`;
    expect(served.requests).toEqual([new URL('/', service.baseUrl).href, requested, requested]);
    expect(exported.requests).toEqual([expect.stringMatching(/^file:.*\/index\.html$/)]);
  });
});
