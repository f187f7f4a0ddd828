import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serviceTag, stackName } from '../../../shared/names.ts';
import { type Stage, stagesOf } from '../../settings.ts';
import { stages } from '../../stages.ts';
import { synthesize } from '../../synthesize.ts';

/** A stage, with the numbers in its template on which its cost depends. */
export interface StageContents {
  stage: Stage;
  /** Number of metrics that the alarms evaluate. An alarm can evaluate several metrics. */
  alarmMetrics: number;
  /** Number of rules of CloudWatch Contributor Insights. */
  insightRules: number;
  webAcls: number;
  webAclRules: number;
  dashboards: number;
  /** Memory size of each function in MB. */
  functionMegabytes: number;
  /** Number of requests that X-Ray records in each second before it records only a share. */
  tracesPerSecond: number;
  /** Number of days for which AWS Backup keeps a daily backup, and its copies, in total. 0 without backups. */
  backupDays: number;
}

interface Template {
  Resources: Record<string, { Type: string; Properties: any }>;
}

/** Synthesizes the stages in `infra/stages.ts` and counts the contents of their templates. */
export async function contentsOfStages(): Promise<StageContents[]> {
  const assembly = mkdtempSync(join(tmpdir(), `${serviceTag}-cost-`));
  try {
    await synthesize(assembly);
    return stagesOf(stages).map((stage) => {
      const template = readFileSync(join(assembly, `${stackName(stage.name)}.template.json`), 'utf8');
      return { stage, ...contentsOf(JSON.parse(template)) };
    });
  } finally {
    rmSync(assembly, { recursive: true, force: true });
  }
}

/** Returns the numbers in the template of a stage. */
export function contentsOf({ Resources }: Template): Omit<StageContents, 'stage'> {
  const ofType = (type: string) => Object.values(Resources).filter(({ Type }) => Type === type);
  const tables = ofType('AWS::DynamoDB::GlobalTable');
  const webAcls = ofType('AWS::WAFv2::WebACL');
  return {
    alarmMetrics: sum(ofType('AWS::CloudWatch::Alarm').map(({ Properties }) => metricsOfAlarm(Properties))),
    insightRules: sum(tables.map(({ Properties }) => insightRulesOfTable(Properties))),
    webAcls: webAcls.length,
    webAclRules: sum(webAcls.map(({ Properties }) => Properties.Rules.length)),
    dashboards: ofType('AWS::CloudWatch::Dashboard').length,
    functionMegabytes: ofType('AWS::Lambda::Function')[0]!.Properties.MemorySize,
    tracesPerSecond: sum(
      ofType('AWS::XRay::SamplingRule').map(({ Properties }) => Properties.SamplingRule.ReservoirSize),
    ),
    backupDays: sum(ofType('AWS::Backup::BackupPlan').map(({ Properties }) => daysOfBackups(Properties))),
  };
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Returns the number of metrics of an alarm. The metric math expressions of an alarm are free. */
function metricsOfAlarm({ Metrics }: any): number {
  return Metrics ? Metrics.filter((metric: any) => metric.MetricStat).length : 1;
}

/** Returns the sum of the days for which a plan keeps a backup and its copies. */
function daysOfBackups({ BackupPlan }: any): number {
  const rules: any[] = BackupPlan.BackupPlanRule;
  const kept = rules.flatMap(({ Lifecycle, CopyActions }) => [{ Lifecycle }, ...CopyActions]);
  return sum(kept.map(({ Lifecycle }) => Lifecycle.DeleteAfterDays));
}

/**
 * Returns the number of rules for throttled keys of a table and its indexes: one for partition keys, and one for
 * combinations with the sort key, if any.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/contributorinsights_HowItWorks.html
 */
function insightRulesOfTable({ KeySchema, GlobalSecondaryIndexes = [], Replicas }: any): number {
  if (!Replicas[0].ContributorInsightsSpecification?.Enabled) return 0;
  return sum(
    [KeySchema, ...GlobalSecondaryIndexes.map((index: any) => index.KeySchema)].map((keys) => keys.length),
  );
}
