import type { CloudFormationTemplate } from '../../stack/template.ts';

export type ResourceCounts = ReturnType<typeof countResources>;

/** Counts the resources that AWS charges for even if there are no requests, and returns the memory of each function. */
export function countResources(template: CloudFormationTemplate) {
  const resources = Object.entries(template.Resources);
  const ofType = (type: string): any[] =>
    resources.filter(([, { Type }]) => Type === type).map(([id, { Properties }]) => ({ id, ...Properties }));
  const webAcls = ofType('AWS::WAFv2::WebACL');
  const memoryMegabytes: Record<string, number> = Object.fromEntries(
    ofType('AWS::Lambda::Function').map(({ id, MemorySize }) => [nameOf(id), MemorySize]),
  );
  return {
    /** Number of metrics that alarms watch. AWS charges for each metric, not for each alarm. */
    alarms: ofType('AWS::CloudWatch::Alarm').flatMap(({ Metrics = [{ MetricStat: true }] }) =>
      Metrics.filter((metric: any) => metric.MetricStat),
    ).length,
    dashboards: ofType('AWS::CloudWatch::Dashboard').length,
    /** Number of Contributor Insights rules. Each key attribute of a table or index has a rule. */
    contributorRules: ofType('AWS::DynamoDB::GlobalTable')
      .flatMap((table) => [table, ...(table.GlobalSecondaryIndexes ?? [])])
      .flatMap(({ KeySchema }) => KeySchema).length,
    webAcls: webAcls.length,
    webAclRules: webAcls.flatMap(({ Rules }) => Rules).length,
    /** Memory in MB of each operation's function and of `authorizer`. */
    memoryMegabytes,
  };
}

/** Returns the function's name for a logical id, such as `listPets` for `ListPets1A2B3C4D`. */
function nameOf(logicalId: string): string {
  return `${logicalId.charAt(0).toLowerCase()}${logicalId.slice(1, -8)}`;
}
