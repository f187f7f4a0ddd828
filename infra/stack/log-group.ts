import { RemovalPolicy } from 'aws-cdk-lib';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Stage } from '../settings.ts';

export function addLogGroup(
  scope: Construct,
  id: string,
  { logRetentionDays, keepsData }: Stage,
  logGroupName?: string,
): logs.LogGroup {
  return new logs.LogGroup(scope, id, {
    ...(logGroupName !== undefined && { logGroupName }),
    retention: logRetentionDays,
    removalPolicy: keepsData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
  });
}
