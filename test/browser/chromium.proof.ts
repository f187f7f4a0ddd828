import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { advice, findChromium } from '../support/browser.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const missing = join(temporaryFolder(), 'chromium');
const there = process.execPath;

describe('The browser of the tests', () => {
  test('is the one at the path in CHROMIUM', () => {
    expect(findChromium({ CHROMIUM: there }, [])).toBe(there);
  });

  test('is not replaced with another one if the file does not exist', () => {
    expect(() => findChromium({ CHROMIUM: missing }, [there])).toThrow(`CHROMIUM names no file: ${missing}.`);
  });

  test('is the first one installed', () => {
    expect(findChromium({}, [missing, there, '/'])).toBe(there);
  });

  test('may be missing outside of CI', () => {
    expect(findChromium({}, [missing])).toBeUndefined();
    expect(findChromium({ CI: 'false' }, [missing])).toBeUndefined();
  });

  test('is required in CI', () => {
    expect(() => findChromium({ CI: 'true' }, [missing])).toThrow(advice);
    expect(findChromium({ CI: 'true' }, [there])).toBe(there);
  });
});
