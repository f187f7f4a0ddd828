/** The names that follow from the product's name, as clients and AWS see them. */
export const product = {
  name: 'Pet store',
  /** Value of the tag `service`. */
  tag: 'pet-store',
  /** Start of the stacks' names. */
  stackPrefix: 'PetStore',
  /** Realm in `WWW-Authenticate`. */
  realm: 'petstore',
  /**
   * Start of the API keys. Do not change it with the product's name once clients have keys, because the service would
   * reject these keys.
   */
  keyStart: 'pets',
} as const;
