import { readFileSync } from 'node:fs';

// The changes below apply to test/support/stages.ts, so that tests do not depend on the settings in infra/stages.ts.
const unchanged = readFileSync('test/support/stages.ts', 'utf8').replace('../../infra/', './');

/** Functions by name. Each changes a setting or adds a stage in the text of a stages.ts file, as an operator would. */
export const changes: Record<string, (text: string) => string> = {
  'another stage': (text) => text.replace(/^  staging: (.*)\n/m, '$&  preview: $1\n'),
  alarmEmail: (text) => text.replace('alarmEmail: null', "alarmEmail: 'operators@example.com'"),
  domain: (text) =>
    text.replaceAll(/(\w+): \{\s+\.\.\.common,/g, "$& domain: { ...domain, name: '$1.example.com' },"),
  backup: (text) => text.replace(/production: \{\s+\.\.\.common,/, '$& backup,'),
  listPartitions: (text) => text.replace('listPartitions: 1', 'listPartitions: 4'),
  canaryDeployments: (text) => text.replace('canaryDeployments: true', 'canaryDeployments: false'),
  authorizerCacheSeconds: (text) => text.replace('CacheSeconds: 60', 'CacheSeconds: 30'),
  logRetentionDays: (text) => text.replaceAll(/logRetentionDays: \d+/g, 'logRetentionDays: 180'),
  'firewall.action': (text) => text.replace("action: 'block'", "action: 'count'"),
  firewall: (text) => text.replaceAll(/^ *firewall: .*\n/gm, ''),
};

/** Returns the text of test/support/stages.ts with the given changes. @throws Error if a change has no effect */
export function stagesWith(...made: ((text: string) => string)[]): string {
  return made.reduce((text, change) => {
    const changed = change(text);
    if (changed === text)
      throw new Error(`Adapt ${change.toString()}, because it does not change test/support/stages.ts.`);
    return changed;
  }, unchanged);
}
