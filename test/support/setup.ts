import { folderUntilExit } from './assembly.ts';
import { withoutAwsSettings } from './run-command.ts';

/**
 * Matches the environment variables that a test run keeps: those that programs need to start, and those that choose how
 * tests run. All others are settings of the developer, such as `PORT`, `AWS_PROFILE`, `TZ` or the `GIT_DIR` of a hook.
 */
const KEPT =
  /^(?:PATH|PATHEXT|SYSTEMROOT|COMSPEC|HOME|USERPROFILE|(?:LOCAL)?APPDATA|TMPDIR|TEMP|TMP|LD_LIBRARY_PATH|NIX_LD\w*|CI|CHROMIUM|FORCE_COLOR|NO_COLOR|TERM|JEST_\w+|NODE_V8_COVERAGE|TEST_RUN_FOLDER)$/i;

/** Removes the developer's settings, and creates a folder that all test files in a run share. */
export default function setUp(): void {
  if (process.env['TEST_RUN_FOLDER']) return; // Jest calls this function for each of its projects.
  // With both variables, VS Code attaches its debugger to the processes that run the test files.
  const { NODE_OPTIONS = '', VSCODE_INSPECTOR_OPTIONS } = process.env;
  for (const name of Object.keys(process.env)) if (!KEPT.test(name)) delete process.env[name];
  if (VSCODE_INSPECTOR_OPTIONS) Object.assign(process.env, { NODE_OPTIONS, VSCODE_INSPECTOR_OPTIONS });
  Object.assign(process.env, {
    NODE_ENV: 'test',
    ...withoutAwsSettings,
    TEST_RUN_FOLDER: folderUntilExit(),
  });
}
