import type { StageSettings } from '../../infra/settings.ts';
import { backup, domain, stages } from './stages.ts';

type Stages = Record<string, StageSettings>;

const threeEpochs = [
  { since: '2025-01-01T00:00:00Z', count: 2 },
  { since: '2025-02-01T00:00:00Z', count: 7 },
  { since: '2025-03-01T00:00:00Z', count: 4 },
];

/** Changes of infra/stages.ts that operators make, by name. */
export const changes: Record<string, (stages: Stages) => Stages> = {
  'another stage': (all) => ({ ...all, preview: all['staging']! }),
  alarmEmail: (all) => inEach(all, () => ({ alarmEmail: 'operators@example.com' })),
  domain: (all) => inEach(all, (name) => ({ domain: { ...domain, name: `${name}.example.com` } })),
  publicUrl: (all) => inEach(all, (name) => ({ publicUrl: `https://api.example.com/${name}` })),
  backup: (all) => ({ ...all, production: { ...all['production']!, backup } }),
  listPartitions: (all) => inEach(all, () => ({ listPartitions: threeEpochs })),
  canaryDeployments: (all) => inEach(all, () => ({ canaryDeployments: false })),
  authorizerCacheSeconds: (all) => inEach(all, () => ({ authorizerCacheSeconds: 30 })),
  tracedShare: (all) => inEach(all, () => ({ tracedShare: 0.5 })),
  logRetentionDays: (all) => inEach(all, () => ({ logRetentionDays: 180 })),
  'firewall.action': (all) =>
    inEach(all, (name) => ({ firewall: { ...all[name]!.firewall!, action: 'count' } })),
  firewall: (all) =>
    Object.fromEntries(
      Object.entries(all).map(([name, { firewall: _firewall, ...settings }]) => [name, settings]),
    ),
};

function inEach(all: Stages, change: (name: string) => Partial<StageSettings>): Stages {
  return Object.fromEntries(
    Object.entries(all).map(([name, settings]) => [name, { ...settings, ...change(name) }]),
  );
}

/**
 * Returns the text of an infra/stages.ts that contains the stages of test/support/stages.ts with the given changes. Tests do
 * not change infra/stages.ts itself, so that they do not depend on the operators' settings.
 */
export function stagesWith(...made: ((stages: Stages) => Stages)[]): string {
  const changed = made.reduce<Stages>((all, change) => change(all), stages);
  return (
    "import type { StageSettings } from './settings.ts';\n\n" +
    `export const stages = ${JSON.stringify(changed, null, 2)} as const satisfies Record<string, StageSettings>;\n`
  );
}
