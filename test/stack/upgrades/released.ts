import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { allSettings, domain, stages } from '../../support/stages.ts';
import { templatesOf } from '../../support/template-of.ts';
import { type Resources, resourcesIn } from './resources.ts';

export const releasedFile = fileURLToPath(new URL('./released.json', import.meta.url));
const { certificateArn: _certificateArn, ...inZone } = domain;

/**
 * Stages whose resources released.json contains: one with few settings, and one with all optional settings. The stages do
 * not depend on infra/stages.ts, so operators can change that file without changing released.json.
 */
export const releasedStages = {
  staging: stages.staging,
  production: { ...allSettings, domain: inZone },
};

/** Returns the resources of the account stack and of the stages, by the name of the stage. */
export function currentResources(templates = templatesOf(releasedStages)): Record<string, Resources> {
  const entries = Object.entries(templates);
  return Object.fromEntries(entries.map(([stage, template]) => [stage, resourcesIn(stage, template)]));
}

/** Returns the resources of the last release. */
export function readReleased(): Record<string, Resources> {
  return JSON.parse(readFileSync(releasedFile, 'utf8'));
}
