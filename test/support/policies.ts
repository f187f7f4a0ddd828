import { readFileSync } from 'node:fs';

/** Returns the statements of the policies in the files of `docs/policies` that have these names. */
export function statementsOf(...names: string[]): any[] {
  return names
    .flatMap((name) => JSON.parse(readFileSync(`docs/policies/${name}.json`, 'utf8')).Statement)
    .map((one) => ({ ...one, Action: [one.Action].flat(), Resource: [one.Resource].flat() }));
}
