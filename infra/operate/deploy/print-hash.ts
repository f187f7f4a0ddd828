import { hashOf } from './assembly.ts';

// Prints the hash of the folder in the first argument, with which `npm run deploy` checks the folder before a deployment.
console.log(hashOf(process.argv[2] ?? 'cdk.out'));
