import { join } from 'node:path';
import { handlerModule } from '../../../infra/stack/bundling.ts';
import { sharedSynthesis } from '../../support/assembly.ts';
import { functionNames, readableTemplate } from '../../support/stack-template.ts';

const { assembly } = await sharedSynthesis();
const { Resources } = readableTemplate('staging');

/** The name of each function's module, such as `get-pet`, and the path of the function's bundle. */
export const bundles = functionNames.map((name): [module: string, file: string] => {
  const { Code, Handler } = Resources[name].Properties;
  const folder = join(assembly, `asset.${Code.S3Key.replace('.zip', '')}`);
  return [handlerModule(Handler), join(folder, Handler.replace(/handler$/, 'mjs'))];
});
