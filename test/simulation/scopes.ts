import { createScopes } from './creates.ts';
import { keyScopes } from './keys.ts';
import { listScopes } from './lists.ts';
import { restoreScopes } from './restores.ts';
import type { Scope } from './schedules.ts';

/** What the simulation checks, by name. */
export const scopes: Record<string, Scope> = {
  ...createScopes,
  ...listScopes,
  ...keyScopes,
  ...restoreScopes,
};
