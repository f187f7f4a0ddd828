import { expect, test } from '@jest/globals';
import { requireEnvironment, serviceName } from '../../shared/names.ts';

test('serviceName contains the stage', () => {
  expect(serviceName('staging')).toBe('pet-store-staging');
});

test('requireEnvironment throws if the variable is empty or not set', () => {
  process.env['PETS_TABLE'] = 'pets';
  expect(requireEnvironment('PETS_TABLE')).toBe('pets');
  process.env['PETS_TABLE'] = '';
  expect(() => requireEnvironment('PETS_TABLE')).toThrow('PETS_TABLE');
  delete process.env['PETS_TABLE'];
  expect(() => requireEnvironment('PETS_TABLE')).toThrow('PETS_TABLE');
});
