import { templateOf } from '../../stack/template.ts';
import { type StageName, stages } from '../../stages.ts';

/** What a stage's template has that costs by the piece, whether requests come or not; and its functions' memory. */
export interface StandingParts {
  /** AWS charges for each metric that an alarm looks at. */
  alarmMetrics: number;
  dashboards: number;
  /** Rules of Contributor Insights: one for each key of a table or index. */
  contributorRules: number;
  webAcls: number;
  webAclRules: number;
  /** By operation, and `authorizer`. */
  memoryMegabytes: Record<string, number>;
}

/** Counts the parts in the template that the stack of a stage is synthesized to. */
export function standingParts(stage: StageName): StandingParts {
  const resources = Object.entries(templateOf({ stage, settings: stages[stage] }).Resources);
  const ofType = (type: string) =>
    resources.flatMap(([id, { Type, Properties }]) =>
      Type === type ? [{ id, ...Properties }] : [],
    ) as any[];
  const webAcls = ofType('AWS::WAFv2::WebACL');
  return {
    alarmMetrics: ofType('AWS::CloudWatch::Alarm').flatMap(
      ({ Metrics }) => Metrics?.filter(({ MetricStat }: any) => MetricStat) ?? [undefined],
    ).length,
    dashboards: ofType('AWS::CloudWatch::Dashboard').length,
    contributorRules: ofType('AWS::DynamoDB::GlobalTable').flatMap(
      ({ KeySchema, GlobalSecondaryIndexes = [] }) => [
        ...KeySchema,
        ...GlobalSecondaryIndexes.flatMap((index: any) => index.KeySchema),
      ],
    ).length,
    webAcls: webAcls.length,
    webAclRules: webAcls.flatMap(({ Rules }) => Rules).length,
    memoryMegabytes: Object.fromEntries(
      ofType('AWS::Lambda::Function').map(({ id, MemorySize }) => [nameOf(id), MemorySize]),
    ),
  };
}

/** `listPets` for `ListPets` with the eight digits that the CDK appends. */
function nameOf(logicalId: string): string {
  return `${logicalId.charAt(0).toLowerCase()}${logicalId.slice(1, -8)}`;
}
