/** Replaces the SDK's module for event streams in the bundles, because no operation of DynamoDB has an event stream. */
export default undefined;
