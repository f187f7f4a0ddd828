import { expect, test } from '@jest/globals';
import { runModule } from '../support/run-command.ts';
import { publish } from './publish.ts';

// Where nothing may be skipped, the packages of test/tools must be there to compare images.
const { CI = '' } = process.env;

test.each([
  ['bench', 'performance.md', 'bench.ts'],
  ['bench:growth', 'scaling.md', 'growth.ts'],
])('npm run %s -- --report would not change docs/%s', async (_script, _document, module) => {
  expect(await runModule(`test/bench/${module}`, ['--report', '--check'], { CI })).toEqual({
    code: 0,
    stdout: '',
    stderr: expect.stringMatching(/^(Without the packages of test\/tools, no images are compared\.\n)?$/),
  });
});

const report = { script: 'bench', document: 'performance.md', plots: {} };

test('a stale document is named, with the command that updates it', () => {
  expect(() => publish({ ...report, parts: { bounds: 'None.\n' } }, true)).toThrow(
    new Error('Stale: docs/performance.md. Run npm run bench -- --report.'),
  );
});

test('a document must have a place for every part', () => {
  expect(() => publish({ ...report, parts: { jokes: 'None.\n' } }, true)).toThrow(
    new Error('docs/performance.md lacks <!-- jokes, computed: npm run bench -- --report -->.'),
  );
});
