import { describe, expect, test } from '@jest/globals';
import { requireEnvironment, serviceName } from '../../shared/names.ts';
import { setEnvironment } from '../support/environment.ts';

setEnvironment({ PETS_TABLE: 'pets', STAGE: '' });

test('a stage has a service name of its own', () => {
  expect(serviceName('staging')).toBe('pet-store-staging');
});

describe('an environment variable', () => {
  test('is read at the moment it is asked for', () => {
    expect(requireEnvironment('PETS_TABLE')).toBe('pets');
    process.env['PETS_TABLE'] = 'other-pets';
    expect(requireEnvironment('PETS_TABLE')).toBe('other-pets');
  });

  test.each(['STAGE', 'API_KEYS_TABLE'] as const)(
    'is named in the error when %s is empty or not set',
    (name) => {
      delete process.env['API_KEYS_TABLE'];
      expect(() => requireEnvironment(name)).toThrow(name);
    },
  );
});
