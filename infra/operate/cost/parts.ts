import { templateOf } from '../../stack/template.ts';
import { type StageName, stages } from '../../stages.ts';
import { countParts, type StandingParts } from './count.ts';

/** Counts the parts of a stage's template. */
export function standingParts(stage: StageName): StandingParts {
  return countParts(templateOf({ stage, settings: stages[stage] }));
}
