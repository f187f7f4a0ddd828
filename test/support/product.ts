/** The names that follow from the product's name, as clients and AWS see them. */
export const product = {
  name: 'Pet store',
  /** Value of the tag `service`. */
  tag: 'pet-store',
  /** Start of the stacks' names. */
  stackPrefix: 'PetStore',
  /** Realm in `WWW-Authenticate`. */
  realm: 'petstore',
  /** Start of the API keys. A new name of the product must not change it once clients have keys. */
  keyStart: 'pets',
} as const;
