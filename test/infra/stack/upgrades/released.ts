import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { StageSettings } from '../../../../infra/settings.ts';
import { backup, domain, stages } from '../../../support/stages.ts';
import { templatesOf } from '../../../support/template-of.ts';
import { type Resources, resourcesIn } from './resources.ts';

export const releasedFile = fileURLToPath(new URL('./released.json', import.meta.url));
const { certificateArn: _certificateArn, ...inZone } = domain;

/**
 * Stages whose resources released.json contains: one with few settings, and one with all optional settings. The stages do
 * not depend on infra/stages.ts, so operators can change that file without changing released.json.
 */
export const releasedStages = {
  staging: stages.staging,
  production: {
    ...stages.production,
    alarmEmail: 'operators@example.com',
    domain: inZone,
    publicUrl: 'https://example.com/shop',
    backup,
    warmThroughput: { readUnitsPerSecond: 12_000, writeUnitsPerSecond: 4_000 },
  } satisfies Required<StageSettings>,
};

/** Returns the resources of the account stack and of the stages, by the name of the stage. */
export function currentResources(): Record<string, Resources> {
  // This variable disables the CDK's validation plugins, because they take a second per stack and also run in `cdk synth`.
  process.env['CDK_VALIDATION'] = 'false';
  const templates = Object.entries(templatesOf(releasedStages));
  return Object.fromEntries(templates.map(([stage, template]) => [stage, resourcesIn(stage, template)]));
}

/** Returns the resources of the last release. */
export function readReleased(): Record<string, Resources> {
  return JSON.parse(readFileSync(releasedFile, 'utf8'));
}
