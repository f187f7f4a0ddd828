import { stateOf } from '../../../shared/api-keys.ts';
import { connect } from '../../../shared/storage/database.ts';
import { stages } from '../../stages.ts';
import { onInterrupt, plain, runWithOptions, UsageError } from '../../command.ts';
import { databaseSettings, findLocalService, localOperator } from '../../local/local-service.ts';
import { helpFor, milliseconds, options, requireValid, type Values } from './arguments.ts';
import { httpsAgent } from '../../proxy.ts';
import * as lifecycle from './lifecycle.ts';
import { confirm, print, printList, printNewKey, toJson } from './output.ts';

type Stage = Awaited<ReturnType<typeof findStage>>;

const run: Record<string, (stage: Stage, values: Values, keyId: string) => Promise<void>> = {
  async issue({ store, findCaller }, values) {
    const { owner = '', 'read-only': readOnly, 'expires-in': lifetime } = values;
    const newKey = {
      owner: owner.trim(),
      readOnly,
      lifetime: milliseconds(lifetime),
      caller: await findCaller(),
    };
    finishDespiteInterrupt();
    await lifecycle.issueApiKey(store, newKey, (issued) => printNewKey(issued, values));
  },

  async list({ store }, { owner, state, expiring, json }) {
    const now = new Date();
    const end = expiring === undefined ? undefined : new Date(now.getTime() + milliseconds(expiring)!);
    const expiresBefore = (record: lifecycle.KeyEntry, time: Date) =>
      stateOf(record, now) === 'active' && stateOf(record, time) === 'expired';
    const entries = await Array.fromAsync(lifecycle.listApiKeys(store));
    // A key that was revoked while its record was missing has two entries after somebody has restored the record: the
    // record and the revocation. If the record says that the key is revoked, only the record is shown.
    const states = new Map(
      entries.filter(lifecycle.isRecord).map((record) => [record.keyId, stateOf(record, now)]),
    );
    const revocations = entries.filter((entry) => !lifecycle.isRecord(entry));
    for (const { keyId } of revocations.filter((revocation) => states.get(revocation.keyId) === 'active'))
      console.error(plain(`The key ${keyId} works although it was revoked. Revoke it again.`));
    const shown = entries
      .filter((entry) => lifecycle.isRecord(entry) || states.get(entry.keyId) !== 'revoked')
      .filter((record) => owner === undefined || record.owner === owner.trim())
      .filter((record) => state === undefined || stateOf(record, now) === state)
      .filter((record) => end === undefined || expiresBefore(record, end));
    await printList(shown, json);
  },

  async rotate({ store, findCaller }, values, keyId) {
    const predecessor = await lifecycle.findRotatableKey(store, keyId);
    const overlap = milliseconds(values.overlap ?? '24h')!;
    const rotation = { overlap, lifetime: milliseconds(values['expires-in']), caller: await findCaller() };
    finishDespiteInterrupt();
    await lifecycle.rotateApiKey(store, predecessor, rotation, (successor, expiresAt) =>
      printNewKey(successor, values, { keyId, expiresAt }),
    );
  },

  async revoke({ store, findCaller }, { yes, json }, keyId) {
    const found = await lifecycle.findKeyEntry(store, keyId);
    const question = found
      ? `Revoke ${keyId} of ${found.owner} (${found.start}…)?`
      : `This stage has no record of ${keyId}. If the stage and the id are right, the key was issued at ` +
        `${lifecycle.issueTimeOf(keyId)}, and its record was lost. Store a revocation, so that the key stays revoked when ` +
        'the record is restored?';
    const isRevoked = found?.revokedAt !== undefined;
    if (!isRevoked && !yes && !(await confirm(question))) {
      throw new UsageError('No key was revoked. To revoke a key without confirmation, add --yes.');
    }
    let revoked = found;
    if (!found) revoked = await lifecycle.revokeLostKey(store, keyId, await findCaller());
    else if (!isRevoked) revoked = await lifecycle.revokeApiKey(store, found, await findCaller());
    if (!lifecycle.isRecord(revoked!))
      throw new UsageError(
        `Only a revocation of ${keyId} is stored, because this stage has no record of the key. If the record was lost, ` +
          'the key stays revoked when the record is restored. If the stage or the id is wrong, the key still works, so run ' +
          'the command again with the right ones.',
      );
    const { revokedAt, revokedBy, owner, successor } = revoked;
    if (successor)
      console.error(plain(`If the successor ${successor.keyId} leaked too, revoke the successor.`));
    if (json) return print(toJson(revoked));
    // An ephemeral stage can be based on any stage, so the message contains the longest cache time of all stages.
    const seconds = Math.max(...Object.values(stages).map((stage) => stage.authorizerCacheSeconds));
    return print(
      `${plain(`The key ${keyId} of ${owner} was revoked at ${revokedAt} by ${revokedBy?.caller}.`)}\n` +
        `API Gateway may accept the key for up to ${seconds} more seconds, because it caches authorizer decisions.`,
    );
  },
};

/** Returns the stage's key store, and a function that returns the operator's ARN. */
async function findStage({ stage = '', data }: Values) {
  if (stage === 'local') {
    const { stage: name, apiKeysTable: table, ...access } = await findLocalService(data);
    const store = { stage: name, table, database: connect(databaseSettings(access)) };
    return { store, findCaller: async () => localOperator };
  }
  // This import is slow, and only commands for deployed stages need the imported functions.
  const { findCaller, findDeployedStage } = await import('../deployed-stage.ts');
  const { apiKeysTable: table } = await findDeployedStage(stage);
  return { store: { stage, table, database: connect({}, httpsAgent) }, findCaller };
}

/** Ignores signals such as Ctrl-C, because an interrupted command could leave a key that was never shown. */
function finishDespiteInterrupt(): void {
  onInterrupt(() => console.error('Finishing this step before exiting …'));
}

async function manageKeys(values: Values, [action = '', ...operands]: string[]): Promise<void> {
  requireValid(action, values, operands);
  await run[action]!(await findStage(values), values, operands[0] ?? '');
}

await runWithOptions(helpFor(process.argv), options, manageKeys, { allowPositionals: true });
