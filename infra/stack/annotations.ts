import { Annotations, Validations } from 'aws-cdk-lib';
import type { Operation } from '../../shared/contract/operation.ts';
import { operations } from '../../shared/contract/operations.ts';
import { configuredRegion } from '../command.ts';
import type { StageStack } from './stage-stack.ts';

/** Synthesis prints a warning if an operation's removal is at most this many days away. */
const SUNSET_WARNING_DAYS = 180;

/** Adds warnings and errors about operations and settings. The CDK prints these messages at each synthesis. */
export function addAnnotations(stack: StageStack, today: Date): void {
  warnAboutSunsets(stack, today);
  warnAboutMails(stack);
  requireCertificateRegion(stack);
}

function warnAboutSunsets(stack: StageStack, today: Date): void {
  for (const { id, deprecation } of Object.values<Operation>(operations)) {
    if (!deprecation) continue;
    const daysLeft = (deprecation.sunset.getTime() - today.getTime()) / 86_400_000;
    if (daysLeft > SUNSET_WARNING_DAYS) continue;
    const day = deprecation.sunset.toISOString().slice(0, 10);
    const advice = 'Check which API keys still use it, and remove it from shared/contract after that day.';
    Annotations.of(stack).addWarningV2(`sunset:${id}`, `${id} is scheduled for removal on ${day}. ${advice}`);
  }
}

function warnAboutMails(stack: StageStack): void {
  const { retainData, alarmEmail } = stack.stage;
  if (retainData && !alarmEmail)
    Annotations.of(stack).addWarningV2(
      'alarmEmail',
      'alarmEmail in infra/stages.ts is null. Enter an email address, or check that the topics AlarmTopic and NoticeTopic ' +
        'have subscribers.',
    );
}

/** Adds an error if the domain's certificate is in a region other than the one in which the CDK deploys. */
function requireCertificateRegion(stack: StageStack): void {
  const target = configuredRegion();
  const region = stack.stage.domain?.certificateArn?.split(':')[3];
  if (!target || !region || region === target) return;
  const problem = `domain.certificateArn in infra/stages.ts must be in ${target}, where the CDK deploys, not in ${region}.`;
  Validations.of(stack).addError('certificateArn', problem);
}
