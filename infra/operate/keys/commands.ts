import { type KeyState, stateOf } from '../../../shared/storage/api-keys.ts';
import { onInterrupt, plain, UsageError } from '../command.ts';
import { findApiKey, issueApiKey, listApiKeys, revokeApiKey } from './lifecycle.ts';
import { confirm, print, printList, printNewKey, toJson } from './output.ts';
import { findRotatableKey, rotateApiKey } from './rotation.ts';
import { findKeyStage } from './stage.ts';
import { stages, type StageName } from '../../stages.ts';

// The actions of `npm run keys`. Durations are in milliseconds.

interface Options {
  stage: string;
  /** Data folder of the local service. */
  data: string;
  json?: true;
}

type NewKeyOptions = Options & { expiresIn?: number; quiet?: true };

/** Issues a key and shows it. */
export async function issue(options: NewKeyOptions & { owner: string }): Promise<void> {
  const { store, findCaller } = await findKeyStage(options);
  const { owner, expiresIn: lifetime } = options;
  const newKey = { owner, lifetime, caller: await findCaller() };
  finishDespiteInterrupt();
  await issueApiKey(store, newKey, (issued) => printNewKey(issued, options));
}

/** Lists the keys of an owner, in a state, or all. */
export async function list(options: Options & { owner?: string; state?: KeyState }): Promise<void> {
  const { store } = await findKeyStage(options);
  const owner = options.owner?.trim();
  const records = await Array.fromAsync(listApiKeys(store));
  const shown = records
    .filter((record) => owner === undefined || record.owner === owner)
    .filter((record) => !options.state || stateOf(record, new Date()) === options.state);
  await printList(shown, options.json);
}

/** Issues the successor of a key, shows it, and sets the expiry of the key. */
export async function rotate(keyId: string, options: NewKeyOptions & { overlap: number }): Promise<void> {
  const { store, findCaller } = await findKeyStage(options);
  const predecessor = await findRotatableKey(store, keyId);
  const { overlap, expiresIn: lifetime } = options;
  const rotation = { overlap, lifetime, caller: await findCaller() };
  finishDespiteInterrupt();
  await rotateApiKey(store, predecessor, rotation, (successor, expiresAt) =>
    printNewKey(successor, options, { keyId, expiresAt }),
  );
}

/** An interrupted command could leave a key that nobody has seen. */
function finishDespiteInterrupt(): void {
  onInterrupt(() => console.error('Going on to the end of this step …'));
}

/** Revokes a key after the operator has confirmed it. */
export async function revoke(keyId: string, options: Options & { yes?: true }): Promise<void> {
  const { store, findCaller } = await findKeyStage(options);
  const found = await findApiKey(store, keyId);
  const isRevoked = stateOf(found, new Date()) === 'revoked';
  const question = `Revoke ${keyId} of ${found.owner} (${found.start}…)?`;
  if (!isRevoked && !options.yes && !(await confirm(question))) {
    throw new UsageError('Nothing was revoked. Where nobody can answer, add --yes.');
  }
  const revoked = isRevoked ? found : await revokeApiKey(store, found, await findCaller());
  const { revokedAt, revokedBy, owner, successor } = revoked;
  if (successor) {
    console.error(`Its successor ${successor.keyId} is not revoked with it: revoke that too if it leaked.`);
  }
  if (options.json) return print(toJson(revoked));
  const { authorizerCacheSeconds } = stages[store.stage as StageName];
  await print(
    `The key ${keyId} of ${plain(owner)} was revoked at ${revokedAt} by ${revokedBy?.caller}.\n` +
      `It may work for up to ${authorizerCacheSeconds} seconds after that, because API Gateway caches the authorizer's decisions.`,
  );
}
