import { describe, expect, test } from '@jest/globals';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allParts, copyProject } from '../support/project-copy.ts';
import { done, runModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));

const temporary = temporaryFolder();

/** The command and the module of each npm script that runs one of the project's modules. */
const commands = Object.entries<string>(scripts).flatMap(([name, script]) => {
  const [, module] = /^node --require \S+ (\S+\.ts)$/.exec(script) ?? [];
  return module ? [{ command: name === 'start' ? 'npm start' : `npm run ${name}`, module }] : [];
});

// Commands share files with tests. Each command therefore runs outside Jest, where it fails if such a file imports code
// that needs Jest.
test.each(commands)('$command -- --help prints the usage', async ({ command, module }) => {
  expect(done(await runModule(module, ['--help']))).toContain(command);
});

describe('in a folder with special characters and the settings of other projects,', () => {
  const parent = join(temporary, "c++ [old] (1) {a,b} it's! #2 50%");
  mkdirSync(parent);
  const project = copyProject(parent, allParts());
  writeFileSync(join(parent, '.editorconfig'), '[*]\nindent_style = tab\nend_of_line = crlf\n');
  // This is the manifest of a project without packages. Yarn's Plug'n'Play also applies it to the folders below, in
  // which esbuild would then find no packages.
  const manifest = { packageLocation: './', packageDependencies: [], linkType: 'SOFT' };
  writeFileSync(
    join(parent, '.pnp.data.json'),
    JSON.stringify({ packageRegistryData: [[null, [[null, manifest]]]] }),
  );

  test('npm test and npm run proofs find the tests', async () => {
    expect(await project.failureOf('npm test -- --listTests | grep -q test/docs/commands.test.ts')).toBe('');
    expect(
      await project.failureOf('npm run proofs -- --listTests | grep -q test/project/checkout.proof.ts'),
    ).toBe('');
  });

  test('npm run format changes no file', async () => {
    expect(await project.failureOf('npx oxfmt --check')).toBe('');
  });

  test('the functions are bundled', async () => {
    const script = `import { bundleFunctions } from './infra/stack/bundling.ts'; await bundleFunctions('built');`;
    project.write('build.ts', script);
    expect(await project.failureOf('node build.ts')).toBe('');
  });
});
