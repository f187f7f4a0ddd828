import { plain, runWithOptions, UsageError } from '../../operate/command.ts';
import { changesSince } from './since.ts';

const USAGE = `npm run openapi:diff -- [--base docs/openapi-released.json]

  --base  the OpenAPI 3.1 document that clients use; the default is what was released last

Lists how the API differs from the base, breaking changes first. Fails if a change breaks clients or cannot be judged.`;

const options = { base: { type: 'string', default: 'docs/openapi-released.json' } } as const;

await runWithOptions(USAGE, options, ({ base }) => {
  const { all, failing } = changesSince(base);
  for (const line of all) console.log(plain(line));
  if (failing.length > 0) {
    throw new UsageError(
      `${failing.length} of ${all.length} changes since ${base} break clients or cannot be judged. Undo a breaking change, or ` +
        'publish it as a new version with its own URL (docs/interface.md, "Compatibility"). For a change that cannot be judged, ' +
        'add a rule to infra/documents/changes/rules.ts.',
    );
  }
  console.log(`No ${all.length > 0 ? 'breaking ' : ''}changes since ${base}.`);
});
