import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { COMPLETE_RUN_LIMIT_MILLISECONDS } from './support/limits.ts';
import { codeBlocksIn, withChanges } from './support/markdown-code.ts';
import { copyRepository } from './support/project-copy.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

const folder = temporaryFolder();
const page = readFileSync('CONTRIBUTING.md', 'utf8');
const TEST_OF_TAG = "npm test -- test/http/create-pet -t 'stores a tag'";

/**
 * Files to which "Add a field" adds the field, besides those of the first change. For each file, a text without the
 * field and the same text with the field.
 */
const STEPS: [file: string, text: string, withField: string][] = [
  ['test/collections/pets.ts', "status: 'available' })", "status: 'available', tag: 'calm' })"],
  [
    'docs/clients/pets.ts',
    '?: PetStatus | undefined };',
    '?: PetStatus | undefined; tag?: string | undefined };',
  ],
  ['test/clients/pets/sample.ts', "status: 'available' }", "status: 'available', tag: 'calm' }"],
];

function sectionOf(heading: string): string {
  const [, section] = new RegExp(`^${heading}$([^]*?)^##`, 'm').exec(page) ?? [];
  if (section === undefined) throw new Error(`CONTRIBUTING.md has no section ${heading}.`);
  return section;
}

test(
  'the first change and "Add a field" in CONTRIBUTING.md have the described effects',
  async () => {
    const section = sectionOf('## Your first change');
    for (const command of [TEST_OF_TAG, 'npm run generate', 'npm run openapi:diff', 'npm run check'])
      expect(section.replaceAll(/\s+/g, ' ')).toContain(`\`${command}\``);

    const project = await copyRepository(folder);
    for (const { info, code } of codeBlocksIn(section)) {
      const [kind, file] = info.split(' ') as [string, string?];
      if (kind === 'diff') project.write(file!, withChanges(project.read(file!), code));
    }
    expect(await project.failureOf(TEST_OF_TAG)).toContain(
      'The request or response contradicts openapi.json',
    );
    expect(await project.failureOf(`npm run generate && ${TEST_OF_TAG} && npm run openapi:diff`)).toBe('');
    const failure = await project.failureOf('npm run check');
    const files = failure.match(/test\/[\w/.-]+\.ts(?=.*Property 'tag' is missing)/g) ?? [];
    expect(files.toSorted()).toEqual([
      'test/clients/pets/sample.ts',
      'test/clients/pets/typescript.proof.ts',
    ]);

    for (const [file, text, withField] of STEPS) {
      expect(sectionOf('### Add a field')).toContain(`\`${file}\``);
      expect(project.read(file)).toContain(text);
      project.write(file, project.read(file).replace(text, withField));
    }
    const tests = 'test/functions test/http test/shared/contract';
    const script = `npm run format && npm run generate && npm run check && npm test -- ${tests}`;
    expect(await project.failureOf(script)).toBe('');
    const clients = "npm run proofs -- test/clients/pets/clients -t 'lists each pet once'";
    expect(await project.failureOf(clients)).toBe('');
  },
  COMPLETE_RUN_LIMIT_MILLISECONDS,
);
