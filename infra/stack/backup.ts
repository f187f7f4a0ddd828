import { Aws, Duration, Fn, RemovalPolicy } from 'aws-cdk-lib';
import * as backup from 'aws-cdk-lib/aws-backup';
import type { Construct } from 'constructs';
import type { Stage } from '../settings.ts';
import { addManagedRole } from './roles.ts';
import type { Storage } from './storage.ts';

/**
 * Adds daily backups (by default at 5:00 UTC) and copies to another vault if the settings include `backup`. Idempotency
 * records are left out, because they expire after 24 hours. The vault's default key permits copies to other accounts.
 * https://docs.aws.amazon.com/aws-backup/latest/devguide/encryption.html#copy-encryption
 */
export function addBackup(scope: Construct, stage: Stage, { pets, apiKeys }: Storage): void {
  if (!stage.backup) return;
  const { vaultArn, retentionDays } = stage.backup;
  // The start of the stack id makes the name unique if an earlier stack's vault was retained.
  const [uniqueId] = Fn.split('-', Fn.select(2, Fn.split('/', Aws.STACK_ID)), 5);
  const backupVault = new backup.BackupVault(scope, 'BackupVault', {
    backupVaultName: `${Aws.STACK_NAME}-${uniqueId}`,
    removalPolicy: stage.keepsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  });
  const plan = new backup.BackupPlan(scope, 'BackupPlan', { backupPlanName: Aws.STACK_NAME, backupVault });
  const destinationBackupVault = backup.BackupVault.fromBackupVaultArn(scope, 'Copies', vaultArn);
  const copy = { destinationBackupVault, deleteAfter: Duration.days(retentionDays) };
  // The original is kept only for a week, because point-in-time recovery serves restores in the stage's account.
  plan.addRule(new backup.BackupPlanRule({ deleteAfter: Duration.days(7), copyActions: [copy] }));
  const policy = 'service-role/AWSBackupServiceRolePolicyForBackup';
  const reason = 'AWS maintains this policy for backups of all services. The plan selects only two tables.';
  const role = addManagedRole(scope, 'BackupRole', { service: 'backup', policy, reason });
  const resources = [pets, apiKeys].map((table) => backup.BackupResource.fromDynamoDbTable(table));
  plan.addSelection('Tables', { role, resources });
}
