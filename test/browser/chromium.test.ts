import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { advice, findChromium } from '../support/browser.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const missing = join(temporaryFolder(), 'chromium');
const there = process.execPath;

describe('The browser of the tests', () => {
  test('is the one that CHROMIUM names', () => {
    expect(findChromium({ CHROMIUM: there }, [])).toBe(there);
  });

  test('is never another one when that is not there', () => {
    expect(() => findChromium({ CHROMIUM: missing }, [there])).toThrow(`CHROMIUM names no file: ${missing}.`);
  });

  test('is the first that is installed', () => {
    expect(findChromium({}, [missing, there, '/'])).toBe(there);
  });

  test('may be missing on a machine of one’s own', () => {
    expect(findChromium({}, [missing])).toBeUndefined();
    expect(findChromium({ CI: 'false' }, [missing])).toBeUndefined();
  });

  test('must be there in CI', () => {
    expect(() => findChromium({ CI: 'true' }, [missing])).toThrow(advice);
    expect(findChromium({ CI: 'true' }, [there])).toBe(there);
  });
});
