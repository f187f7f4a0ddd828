/** The functions' only source of credentials is Lambda, which sets environment variables. */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';
