// In the bundles this stands for `@aws-sdk/credential-provider-node`: of all places where that one looks for credentials,
// Lambda uses the environment, and the code for the others would be a third of what a new instance loads.

export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';
