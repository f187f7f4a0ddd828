import type { NewPet } from '../../shared/contract/pets.ts';

/** Valid body of `createPet` with a value for each field, as a client sends it. */
export const validBody = { name: 'Rex', categoryId: 7, status: 'available' } as const;

/** `validBody` as the functions receive it after validation. */
export const validPet: NewPet = { ...validBody, categoryId: 7n };

/** `validPet` without its only optional field. */
export const petWithoutStatus: NewPet = { name: 'Rex', categoryId: 7n };
