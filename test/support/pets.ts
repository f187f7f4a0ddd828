/** A pet that a client creates, with a value for each field in the order of responses. Integers are bigints. */
export function newPet(name: string, fields: object = {}) {
  return { name, categoryId: 7n, status: 'available', ...fields };
}
