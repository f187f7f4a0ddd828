import { globSync, readFileSync } from 'node:fs';
import { collections } from '../../shared/contract/operations.ts';
import { codeBlock, markdownList } from './markdown.ts';

/** Returns the generated parts of `docs/clients.md`. */
export function clientParts(): Record<string, Record<string, string>> {
  return { 'docs/clients.md': { 'clients to copy': clientPages(), 'openapi-generator for Go': goCommand() } };
}

/** Returns a list of links to the pages in `docs/clients`. */
function clientPages(): string {
  const links = globSync('*.md', { cwd: 'docs/clients' })
    .toSorted()
    .map((page) => {
      const [, heading] = /^# (.+)$/m.exec(readFileSync(`docs/clients/${page}`, 'utf8'))!;
      return `[${heading}](clients/${page})`;
    });
  return markdownList(links);
}

/**
 * Returns the command that generates a client in Go. The client has a constructor `NewBook` for a schema `Book`, so the
 * command renames a schema `NewBook`.
 */
function goCommand(): string {
  const names = collections.flatMap(({ schemas }) => Object.keys(schemas));
  const mappings = names
    .filter((name) => names.some((constructed) => name === `New${constructed}`))
    .map((name) => `--model-name-mappings ${name}=${name.replace('New', '')}ToAdd`);
  return codeBlock(
    'sh setup',
    [
      'openapi-generator-cli generate -g go -i openapi-3.0.json -o client',
      ...mappings,
      '--additional-properties=disallowAdditionalPropertiesIfNotPresent=false',
    ].join(' \\\n  '),
  );
}
