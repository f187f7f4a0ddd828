import { parse } from 'node:path';
import { bundleIn } from '../../infra/local/emulator/lambda/lambda.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { functionNames, readableTemplate } from '../support/stack-template.ts';

const { assembly } = await sharedSynthesis();
const { Resources } = readableTemplate('staging');

/** The name of each function's module, such as `get-book`, and the path of the function's bundle. */
export const bundles = functionNames.map((name): [module: string, file: string] => {
  const properties = Resources[name].Properties;
  return [parse(properties.Handler).name, bundleIn(assembly, { logicalId: name, properties })];
});
