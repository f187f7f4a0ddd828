import { folderUntilExit } from './assembly.ts';

/** Creates a folder that all test files in a run share. If a test starts another run, both runs use the same folder. */
export default function setUp(): void {
  process.env['TEST_RUN_FOLDER'] ??= folderUntilExit();
}
