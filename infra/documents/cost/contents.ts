import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collections } from '../../../shared/contract/operations.ts';
import { pascalCase, serviceTag, stackName } from '../../../shared/names.ts';
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
  /** Number of indexes of the first collection's table. */
  indexes: number;
  /** Memory size of each function in MB. */
  functionMegabytes: number;
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
  const resources = Object.entries(Resources).map(([id, { Type, Properties }]) => ({ id, Type, Properties }));
  const ofType = (type: string) => resources.filter(({ Type }) => Type === type);
  const tables = ofType('AWS::DynamoDB::GlobalTable');
  const webAcls = ofType('AWS::WAFv2::WebACL');
  const tableName = `Storage${pascalCase(collections[0].plural)}`;
  // The logical id ends with a hash.
  const table = tables.find(({ id }) => new RegExp(`^${tableName}[\\dA-F]{8}$`).test(id))!;
  return {
    alarmMetrics: sum(ofType('AWS::CloudWatch::Alarm').map(({ Properties }) => metricsOfAlarm(Properties))),
    insightRules: sum(tables.map(({ Properties }) => insightRulesOfTable(Properties))),
    webAcls: webAcls.length,
    webAclRules: sum(webAcls.map(({ Properties }) => Properties.Rules.length)),
    indexes: table.Properties.GlobalSecondaryIndexes.length,
    functionMegabytes: ofType('AWS::Lambda::Function')[0]!.Properties.MemorySize,
  };
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Returns the number of metrics of an alarm. The metric math expressions of an alarm are free. */
function metricsOfAlarm({ Metrics }: any): number {
  return Metrics ? Metrics.filter((metric: any) => metric.MetricStat).length : 1;
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
