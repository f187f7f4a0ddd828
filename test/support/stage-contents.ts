/** Numbers in the template of a stage, for tests of what the stage costs. */
export const templateNumbers = {
  alarmMetrics: 44,
  insightRules: 9,
  webAcls: 1,
  webAclRules: 5,
  dashboards: 1,
  accessLogBytes: { list: 650, anonymous: 550 },
  functionMegabytes: 512,
  tracesPerSecond: 1,
  backupDays: 0,
};
