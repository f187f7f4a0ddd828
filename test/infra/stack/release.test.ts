import { describe, expect, test } from '@jest/globals';
import { heldAliasesOf, type Template } from '../../../infra/operate/deploy/assembly.ts';
import { functionNames, readableTemplate, stackTemplate, stageNames } from '../../support/stack-template.ts';

test('production has parameters that hold the aliases at older versions, and no deployment group', () => {
  const { Resources, Parameters, Conditions } = stackTemplate('production') as any;
  for (const name of functionNames) {
    const alias: any = Object.values(Resources).find(
      ({ Type, Properties }: any) =>
        Type === 'AWS::Lambda::Alias' && JSON.stringify(Properties).includes(`"${name}LiveVersion"`),
    );
    const [condition, held, current] = alias.Properties.FunctionVersion['Fn::If'];
    expect(held).toEqual({ Ref: `${name}LiveVersion` });
    expect(current['Fn::GetAtt']).toEqual([expect.stringMatching(`^${name}CurrentVersion`), 'Version']);
    expect(Conditions[condition]).toEqual({
      'Fn::And': [
        { 'Fn::Equals': [{ Ref: 'Released' }, 'false'] },
        { 'Fn::Not': [{ 'Fn::Equals': [{ Ref: `${name}LiveVersion` }, ''] }] },
      ],
    });
    expect(Parameters[`${name}LiveVersion`]).toMatchObject({ Type: 'String', Default: '' });
    expect(alias.UpdatePolicy).toBeUndefined();
  }
  // With this default, `npx cdk deploy` of a new stack points the aliases to the new versions. Later,
  // `npx cdk deploy` keeps the parameter's last value.
  expect(Parameters.Released).toMatchObject({ Default: 'true', AllowedValues: ['true', 'false'] });
});

test('npm run deploy finds an alias, a new version and a parameter for each function of production', () => {
  const { Resources } = stackTemplate('production');
  const held = heldAliasesOf(stackTemplate('production') as unknown as Template);
  expect(held.map(({ parameter }) => parameter).toSorted()).toEqual(
    functionNames.map((name) => `${name}LiveVersion`).toSorted(),
  );
  for (const { aliasId, versionId } of held)
    expect([Resources[aliasId]?.Type, Resources[versionId]?.Type]).toEqual([
      'AWS::Lambda::Alias',
      'AWS::Lambda::Version',
    ]);
  expect(heldAliasesOf(stackTemplate('staging') as unknown as Template)).toEqual([]);
});

describe.each(stageNames)('in %s,', (stage) => {
  const { Resources } = readableTemplate(stage);

  test.each(functionNames)(
    'the alias of %s refers to the newest version, and earlier versions are retained',
    (name) => {
      const { FunctionName, FunctionVersion } = Resources[`${name}Live`].Properties;
      const version = FunctionVersion['Fn::If']?.at(-1) ?? FunctionVersion;
      expect([FunctionName, version]).toEqual([`\${${name}}`, `\${${name}CurrentVersion.Version}`]);
      expect(Resources[`${name}CurrentVersion`]).toMatchObject({
        Properties: { FunctionName: `\${${name}}` },
        DeletionPolicy: 'RetainExceptOnCreate',
        UpdateReplacePolicy: 'Retain',
      });
    },
  );

  // CloudFormation rejects circular dependencies, but synthesis does not detect them.
  test('the resources have no circular dependencies', () => {
    const all = Object.entries(Resources).map(([id, resource]) => ({ id, needs: dependenciesOf(resource) }));
    let waiting = all;
    // As in CloudFormation, each round creates the resources that do not depend on a waiting resource.
    for (let round = 0; round < all.length; round += 1)
      waiting = waiting.filter(({ needs }) => waiting.some(({ id }) => needs.includes(id)));
    expect(waiting).toEqual([]);
  });
});

test('staging has no canary deployments', () => {
  const { Parameters } = stackTemplate('staging') as any;
  expect(Object.keys(Parameters)).toEqual(['BootstrapVersion']);
});

function dependenciesOf({ DependsOn = [], ...resource }: any): string[] {
  return [...DependsOn, ...Array.from(JSON.stringify(resource).matchAll(/\$\{(\w+)/g), ([, id]) => id)];
}
