import { App } from 'aws-cdk-lib';
import { expect, test } from '@jest/globals';
import { addStacks } from '../../infra/stack/stack.ts';
import { stagesOf } from '../../infra/settings.ts';
import { operations } from '../../shared/contract/operations.ts';
import { stages } from '../support/stages.ts';
import { emptyBundles } from '../support/template-of.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const bundles = emptyBundles(temporaryFolder());

/** Synthesizes the stages with bundles for these modules in functions/. */
function synthesizeWith(modules: Iterable<string>): void {
  const chosen = new Map(Array.from(modules, (name) => [name, bundles.get(name) ?? '']));
  addStacks(new App(), stagesOf(stages), chosen);
}

test('the synthesis fails if an operation has no function, and names the missing file', () => {
  const [id, modules] = [Object.keys(operations)[0]!, [...bundles.keys()]];
  const file = id.replaceAll(/[A-Z]/g, '-$&').toLowerCase();
  expect(() => synthesizeWith(modules.filter((name) => name !== file))).toThrow(
    `The operation ${id} has no function. Add functions/${file}.ts.`,
  );
});

test('a module in functions/ can be a function of its own, without an operation', () => {
  expect(() => synthesizeWith([...bundles.keys(), 'send-report'])).not.toThrow();
});
