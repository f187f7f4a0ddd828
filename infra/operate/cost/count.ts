import type { CloudFormationTemplate } from '../../stack/template.ts';

export type ResourceCounts = ReturnType<typeof countResources>;

/** Counts the resources that AWS charges for even without requests, and returns the memory of the functions. */
export function countResources(template: CloudFormationTemplate) {
  const resources = Object.entries(template.Resources);
  const ofType = (type: string): any[] =>
    resources.filter(([, { Type }]) => Type === type).map(([id, { Properties }]) => ({ id, ...Properties }));
  const webAcls = ofType('AWS::WAFv2::WebACL');
  const memoryMegabytes: Record<string, number> = Object.fromEntries(
    ofType('AWS::Lambda::Function').map(({ id, MemorySize }) => [nameOf(id), MemorySize]),
  );
  return {
    /** Number of metrics that alarms watch, because AWS charges for each metric. */
    alarms: ofType('AWS::CloudWatch::Alarm').flatMap(({ Metrics = [{ MetricStat: true }] }) =>
      Metrics.filter((metric: any) => metric.MetricStat),
    ).length,
    dashboards: ofType('AWS::CloudWatch::Dashboard').length,
    /** Contributor Insights has one rule for each key attribute of a table or index. */
    contributorRules: ofType('AWS::DynamoDB::GlobalTable')
      .flatMap((table) => [table, ...(table.GlobalSecondaryIndexes ?? [])])
      .flatMap(({ KeySchema }) => KeySchema).length,
    webAcls: webAcls.length,
    webAclRules: webAcls.flatMap(({ Rules }) => Rules).length,
    /** By operation, and for `authorizer`. */
    memoryMegabytes,
  };
}

/** Returns `listPets` for the logical id `ListPets` with the eight characters that the CDK appends. */
function nameOf(logicalId: string): string {
  return `${logicalId.charAt(0).toLowerCase()}${logicalId.slice(1, -8)}`;
}
