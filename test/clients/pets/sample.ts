import type { NewPet } from '../../../shared/contract/pets.ts';

/** Valid pet with a value for each field, as the functions receive it after validation. */
export const validPet: Required<NewPet> = { name: 'Rex', categoryId: 7n, status: 'available' };
