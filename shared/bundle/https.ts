// Replaces `node:https` for the same reason as `node.ts`. This file is separate because only `node:https` needs a default export.
export default process.getBuiltinModule('node:https');
