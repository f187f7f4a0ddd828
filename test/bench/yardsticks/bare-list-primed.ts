import { handler } from './bare-list.ts';

// As many requests as our functions make in init.
await handler();
await handler();

export { handler } from './bare-list.ts';
