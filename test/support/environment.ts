import { afterEach, beforeEach } from '@jest/globals';
import type { EnvironmentVariable } from '../../shared/names.ts';

/** Sets these environment variables for each test of the file, and takes them back afterwards. */
export function setEnvironment(variables: Partial<Record<EnvironmentVariable, string>>): void {
  const before = { ...process.env };
  beforeEach(() => {
    Object.assign(process.env, variables);
  });
  afterEach(() => {
    process.env = { ...before };
  });
}
