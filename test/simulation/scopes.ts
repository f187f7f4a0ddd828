import type { Scope } from './schedules.ts';

// The machine must be replaced before these modules import the code under test. The imports are dynamic, because Jest
// reads the exports of Node's modules even before it runs a module that imports them statically.
await import('./machine.ts');
const { createScopes } = await import('./creates.ts');
const { listScopes } = await import('./lists.ts');
const { keyScopes } = await import('./keys.ts');

const all: Record<string, Scope> = { ...createScopes, ...listScopes, ...keyScopes };

/** What the simulation checks, by name. */
export const scopes: Record<string, Scope> = Object.fromEntries(
  Object.entries(all).map(([name, scope]) => [name, { ...scope, settings: { ...scope.settings, name } }]),
);
