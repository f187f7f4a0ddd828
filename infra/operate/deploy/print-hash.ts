import { hashOf } from './assembly.ts';

// Prints the hash of a folder, the first argument. With this hash, `npm run deploy` checks the folder before a
// deployment.
console.log(hashOf(process.argv[2] ?? 'cdk.out'));
