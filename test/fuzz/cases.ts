import * as fc from 'fast-check';
import type { Body, Refusal } from './bodies.ts';

// Calls of the operations, with what docs/interface.md says to each.

export type Pairs = [name: string, value: string][];

/** An Idempotency-Key as headers, and a second way to send the same one; without `key` it must be refused. */
export interface IdempotencyKey {
  values: string[];
  key?: string;
  again?: string;
}

export interface Create {
  operation: 'createPet';
  body: Body;
  mediaType: { value: string | undefined; isJson: boolean };
  idempotencyKey: IdempotencyKey | undefined;
  /** What follows a success under an Idempotency-Key. */
  followedBy: 'nothing' | 'repetition' | 'another body';
}

export interface List {
  operation: 'listPets';
  query: Pairs;
  /** What must become of it; without, it may be a list or not. */
  expected?: { limit: number; status?: string } | Refusal;
  /** Whether it is asked for with the cursor of a first page of so many pets. */
  afterFirst?: number;
}

export interface Get {
  operation: 'getPet';
  /** Of the pets that are there; or a part of a path that is none's identifier. */
  pet: { index: number; isEncoded: boolean[] } | string;
}

export type Case = Create | List | Get;

export function characterOf(text: string): fc.Arbitrary<string> {
  return fc.constantFrom(...Array.from(text));
}
