import type { CloudFormationTemplate } from '../../stack/template.ts';

export type ResourceCounts = ReturnType<typeof countResources>;

/** Counts what a template has that costs by the piece, even without requests, and lists its functions' memory. */
export function countResources(template: CloudFormationTemplate) {
  const resources = Object.entries(template.Resources);
  const ofType = (type: string): any[] =>
    resources.filter(([, { Type }]) => Type === type).map(([id, { Properties }]) => ({ id, ...Properties }));
  const webAcls = ofType('AWS::WAFv2::WebACL');
  const memoryMegabytes: Record<string, number> = Object.fromEntries(
    ofType('AWS::Lambda::Function').map(({ id, MemorySize }) => [nameOf(id), MemorySize]),
  );
  return {
    /** Metrics that alarms watch: AWS charges for each of them. */
    alarms: ofType('AWS::CloudWatch::Alarm').flatMap(({ Metrics = [{ MetricStat: true }] }) =>
      Metrics.filter((metric: any) => metric.MetricStat),
    ).length,
    dashboards: ofType('AWS::CloudWatch::Dashboard').length,
    /** Contributor Insights has one for each key attribute of a table or index. */
    contributorRules: ofType('AWS::DynamoDB::GlobalTable')
      .flatMap((table) => [table, ...(table.GlobalSecondaryIndexes ?? [])])
      .flatMap(({ KeySchema }) => KeySchema).length,
    webAcls: webAcls.length,
    webAclRules: webAcls.flatMap(({ Rules }) => Rules).length,
    /** By operation, and `authorizer`. */
    memoryMegabytes,
  };
}

/** Returns `listPets` for `ListPets` and the eight characters that the CDK appends. */
function nameOf(logicalId: string): string {
  return `${logicalId.charAt(0).toLowerCase()}${logicalId.slice(1, -8)}`;
}
