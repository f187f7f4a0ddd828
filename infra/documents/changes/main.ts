import { readFileSync } from 'node:fs';
import { parseJson } from '../../../shared/contract/json.ts';
import { pathOption, plain, relativePaths, runWithOptions, UsageError } from '../../command.ts';
import { openApiJson } from '../openapi/document.ts';
import { withoutReferences } from '../openapi/references.ts';
import { differences } from './differences.ts';

const RELEASED = 'docs/openapi-released.json';

const USAGE = `npm run openapi:diff -- [--base FILE]

Lists the changes since the OpenAPI document FILE (default: ${RELEASED}), breaking changes first. Fails if a
change breaks clients or cannot be classified automatically. ${relativePaths}`;

await runWithOptions(USAGE, { base: { type: 'string', default: RELEASED } }, ({ base }) => {
  let document: any;
  try {
    document = parseJson(readFileSync(pathOption('--base', base), 'utf8'));
  } catch (error) {
    throw new UsageError(
      `${base} cannot be read as OpenAPI JSON. Choose a file with --base. (${(error as Error).message})`,
    );
  }
  // withoutReferences needs the security schemes, which all documents of this service contain.
  if (!document?.openapi || !document.paths || !document.components?.securitySchemes)
    throw new UsageError(`${base} is not an OpenAPI document of this service. Choose a file with --base.`);
  const before = withoutReferences(document);
  // The alphabetical order puts breaking changes first.
  const lines = differences(before, withoutReferences(parseJson(openApiJson()))).toSorted();
  for (const line of lines) console.log(plain(line));
  const failing = lines.filter((line) => !line.startsWith('non-breaking:'));
  if (failing.length > 0) {
    throw new UsageError(
      `${failing.length} of ${lines.length} changes since ${base} break clients or cannot be classified. Undo these changes, ` +
        'publish a new version (docs/interface.md, "Compatibility") or add rules to infra/documents/changes/differences.ts.',
    );
  }
  console.log(`No ${lines.length > 0 ? 'breaking ' : ''}changes since ${base}.`);
});
