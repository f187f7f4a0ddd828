import {
  type ApiKeyRecord,
  type KeyState,
  type KeyStore,
  stateOf,
} from '../../../shared/storage/api-keys.ts';
import { plain, uninterrupted, UsageError } from '../command.ts';
import { findApiKey, issueApiKey, listApiKeys, revokeApiKey } from './lifecycle.ts';
import {
  confirm,
  print,
  printForPrograms,
  printList,
  printNewKey,
  toJson,
  warnOfBegunRotations,
} from './output.ts';
import {
  beginRotation,
  completeRotation,
  endOfOverlap,
  findBegunSuccessor,
  findRotatableKey,
  RotationConflict,
} from './rotation.ts';
import { findKeyStage } from './stage.ts';
import { stages, type StageName } from '../../stages.ts';

// What `npm run keys` does: finds the stage, does it, and shows what has come of it.

interface StageOptions {
  stage: string;
  /** Data folder of the local service. */
  data: string;
  json?: true;
}

interface ListOptions extends StageOptions {
  owner?: string;
  state?: KeyState;
}

interface RevokeOptions extends StageOptions {
  yes?: true;
}

interface NewKeyOptions extends StageOptions {
  /** In milliseconds. */
  expiresIn?: number;
  quiet?: true;
}

interface IssueOptions extends NewKeyOptions {
  owner: string;
}

interface RotateOptions extends NewKeyOptions {
  /** In milliseconds. */
  overlap: number;
  complete?: true;
  yes?: true;
}

/** Issues a key and shows it. */
export async function issue(options: IssueOptions): Promise<void> {
  const { store, findCaller } = await findKeyStage(options);
  const { owner, expiresIn: lifetime } = options;
  const caller = await findCaller();
  await uninterrupted(() =>
    issueApiKey(store, { owner, lifetime, caller }, (issued) => printNewKey(issued, options)),
  );
}

/** Shows the keys that were asked for. */
export async function list(options: ListOptions): Promise<void> {
  const { store } = await findKeyStage(options);
  const { owner, state } = options;
  const now = new Date();
  const records = await Array.fromAsync(listApiKeys(store));
  await printList(
    records.filter(
      (record) =>
        (owner === undefined || record.owner === owner.trim()) && (!state || stateOf(record, now) === state),
    ),
    options,
  );
  warnOfBegunRotations(records);
}

/** Issues the successor of a key, shows it, and gives the key its end. */
export async function rotate(keyId: string, options: RotateOptions): Promise<void> {
  const { store, findCaller } = await findKeyStage(options);
  const predecessor = await findRotatableKey(store, keyId);
  const caller = await findCaller();
  if (options.complete) return complete(store, predecessor, { ...options, caller });

  if (predecessor.successor) await agreeToTakeOver(predecessor, options.yes);
  const expiresAt = endOfOverlap(predecessor, options.overlap);
  await uninterrupted(async () => {
    try {
      const { expiresIn: lifetime } = options;
      const successor = await beginRotation(store, predecessor, { lifetime, caller });
      await printNewKey(successor, { ...options, replaces: { keyId, expiresAt } });
      await completeRotation(store, predecessor, successor.record, { expiresAt, caller });
    } catch (error) {
      if (!(error instanceof RotationConflict)) {
        console.error(
          `The rotation of ${keyId} is not complete: rotate it again, with the same options, or with --complete if somebody has the new key.`,
        );
      }
      throw error;
    }
  });
}

/** Keeps the key that a rotation which was cut off has shown. */
async function complete(
  store: KeyStore,
  predecessor: ApiKeyRecord,
  { overlap, json, yes, caller }: RotateOptions & { caller: string },
): Promise<void> {
  const { keyId } = predecessor;
  const successor = await findBegunSuccessor(store, predecessor);
  const question = `Does its owner have ${successor.keyId} (${successor.start}…)? ${keyId} is given its end.`;
  if (!yes && process.stdin.isTTY && !(await confirm(question))) throw new UsageError('Nothing was changed.');
  const expiresAt = endOfOverlap(predecessor, overlap);
  await completeRotation(store, predecessor, successor, { expiresAt, caller });
  if (json) return printForPrograms(toJson(await findApiKey(store, keyId)));
  return print(`The key ${keyId} works until ${expiresAt}; its successor is ${successor.keyId}.`);
}

/** Ends a key, once somebody has said yes. */
export async function revoke(keyId: string, options: RevokeOptions): Promise<void> {
  const { store, findCaller } = await findKeyStage(options);
  const found = await findApiKey(store, keyId);
  const isRevoked = stateOf(found, new Date()) === 'revoked';
  if (
    !isRevoked &&
    !options.yes &&
    !(await confirm(`Revoke ${keyId} of ${found.owner} (${found.start}…)?`))
  ) {
    throw new UsageError('Nothing was revoked. Where nobody can answer, add --yes.');
  }
  const revoked = isRevoked ? found : await revokeApiKey(store, found, await findCaller());
  if (revoked.successor) await warnOfSuccessor(store, revoked.successor.keyId);
  if (options.json) return printForPrograms(toJson(revoked));
  const { revokedAt, revokedBy, owner } = revoked;
  const { authorizerCacheSeconds } = stages[store.stage as StageName];
  await print(
    `The key ${keyId} of ${plain(owner)} was revoked at ${revokedAt} by ${revokedBy?.caller}.\n` +
      `It can go on working for ${authorizerCacheSeconds} seconds from then, as API Gateway keeps the authorizer's decisions.`,
  );
}

async function warnOfSuccessor(store: KeyStore, keyId: string): Promise<void> {
  // The revocation stands, whatever comes of this look.
  const successor = await findApiKey(store, keyId).catch(() => undefined);
  if (successor && stateOf(successor, new Date()) === 'active') {
    console.error(`Its successor ${keyId} works on: revoke it too if it leaked, or if nobody has it.`);
  }
}

/** Whoever has seen the key of a rotation that was cut off may be using it. At a terminal they are asked. */
async function agreeToTakeOver({ keyId, successor }: ApiKeyRecord, yes: true | undefined): Promise<void> {
  const warning = `A rotation of ${keyId} to ${successor?.keyId} was cut off: the key that it may have shown stops working.`;
  if (yes || !process.stdin.isTTY) return console.error(warning);
  if (!(await confirm(`${warning} Go on?`))) throw new UsageError('Nothing was rotated.');
}
