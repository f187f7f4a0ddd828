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

test('a stale document is named, with the command that updates it', () => {
  const documents = { 'docs/performance.md': { bounds: 'None.\n' } };
  expect(() => publish({ script: 'bench', documents, plots: {} }, true)).toThrow(
    new Error('docs/performance.md must be generated again: run npm run bench -- --report.'),
  );
});

test('a document must have a place for every part', () => {
  const documents = { 'docs/performance.md': { jokes: 'None.\n' } };
  expect(() => publish({ script: 'bench', documents, plots: {} }, true)).toThrow(
    new Error('docs/performance.md lacks the marks <!-- generated: jokes --> and <!-- end -->.'),
  );
});
