import { folderUntilExit } from './assembly.ts';

/**
 * Matches environment variables that would change what tests do: settings of the developer, and variables in which Git
 * passes the repository to a hook. With `GIT_DIR`, Git commands in a temporary folder would change the developer's
 * repository.
 */
const SETTINGS = /^(?:(?:AWS|LC|POWERTOOLS)_.*|GIT_(?!CONFIG_).*|LANG|TZ)$/;

/**
 * Removes the environment variables that `SETTINGS` matches, and creates a folder that all test files in a run share.
 * If a test starts another run, both runs use the same folder.
 */
export default function setUp(): void {
  for (const name of Object.keys(process.env)) if (SETTINGS.test(name)) delete process.env[name];
  process.env['TEST_RUN_FOLDER'] ??= folderUntilExit();
}
