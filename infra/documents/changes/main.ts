import { plain, runWithOptions, UsageError } from '../../command.ts';
import { changesSince } from './differences.ts';

const USAGE = `npm run openapi:diff -- [--base docs/openapi-released.json]

  --base  OpenAPI 3.1 document to compare with; the default is the last release

Lists the changes of the API since the base document, breaking changes first. Fails if a change breaks clients or cannot be
classified automatically.`;

const options = { base: { type: 'string', default: 'docs/openapi-released.json' } } as const;

await runWithOptions(USAGE, options, ({ base }) => {
  const { all, failing } = changesSince(base);
  for (const line of all) console.log(plain(line));
  if (failing.length > 0) {
    throw new UsageError(
      `${failing.length} of ${all.length} changes since ${base} break clients or cannot be classified. Undo breaking changes or ` +
        'publish them in a new version with its own URL (docs/interface.md, "Compatibility"). For changes that cannot be ' +
        'classified, add rules to infra/documents/changes/rules.ts.',
    );
  }
  console.log(`No ${all.length > 0 ? 'breaking ' : ''}changes since ${base}.`);
});
