import { readFileSync } from 'node:fs';

/** Returns the statements of the policy in `docs/policies` that has this name. */
export function statementsOf(name: string): any[] {
  return [JSON.parse(readFileSync(`docs/policies/${name}.json`, 'utf8')).Statement]
    .flat()
    .map((one) => ({ ...one, Action: [one.Action].flat(), Resource: [one.Resource].flat() }));
}
