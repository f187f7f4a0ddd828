// See `node.ts`. A file of its own, so that no other module of Node has a default export in the bundles.
export default process.getBuiltinModule('node:https');
