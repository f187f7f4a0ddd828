import { handler } from './bare-create.ts';

// As many requests as our functions make in init.
const event = { body: '{"name":"Rex","categoryId":1,"status":"available"}' };
await handler(event);
await handler(event);

export { handler } from './bare-create.ts';
