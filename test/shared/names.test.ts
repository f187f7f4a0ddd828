import { expect, test } from '@jest/globals';
import { requireEnvironment, serviceName } from '../../shared/names.ts';

test('a stage has a service name of its own', () => {
  expect(serviceName('staging')).toBe('pet-store-staging');
});

test('an environment variable is read when it is asked for, and named if it is empty or not set', () => {
  process.env['PETS_TABLE'] = 'pets';
  expect(requireEnvironment('PETS_TABLE')).toBe('pets');
  process.env['PETS_TABLE'] = '';
  expect(() => requireEnvironment('PETS_TABLE')).toThrow('PETS_TABLE');
  delete process.env['PETS_TABLE'];
  expect(() => requireEnvironment('PETS_TABLE')).toThrow('PETS_TABLE');
});
