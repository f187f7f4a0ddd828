import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { withRelease } from '../../../infra/documents/changelog.ts';

const before = '# Changes\n\n<!-- releases -->\n\n## 2026-01-31\n\n- First.\n';

test('A release is added before the others', () => {
  expect(withRelease(before, '2026-02-28', ['Second.', ' Third. '])).toBe(
    '# Changes\n\n<!-- releases -->\n\n## 2026-02-28\n\n- Second.\n- Third.\n\n## 2026-01-31\n\n- First.\n',
  );
});

test('A second release of a day is added to the first', () => {
  expect(withRelease(before, '2026-01-31', ['Second.'])).toBe(
    before.replace('- First.', '- Second.\n- First.'),
  );
});

test('docs/changelog.md has a place for releases', () => {
  const changelog = readFileSync('docs/changelog.md', 'utf8');
  expect(withRelease(changelog, '2026-02-28', ['Second.'])).toContain(
    '\n\n## 2026-02-28\n\n- Second.\n\n## 20',
  );
});
