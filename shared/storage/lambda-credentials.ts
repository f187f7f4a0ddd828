// Replaces `@aws-sdk/credential-provider-node` in the bundles: Lambda has credentials in the environment alone.

export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';
