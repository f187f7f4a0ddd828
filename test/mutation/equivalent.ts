/** A mutant that no test can kill, because nothing that the service promises differs. */
export interface Equivalent {
  file: string;
  mutator: string;
  original: string;
  replacement: string;
  reason: string;
}

export const equivalents: Equivalent[] = [];
