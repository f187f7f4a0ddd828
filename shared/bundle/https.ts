// See `node.ts`. This is a separate file because only `node:https` needs a default export.
export default process.getBuiltinModule('node:https');
