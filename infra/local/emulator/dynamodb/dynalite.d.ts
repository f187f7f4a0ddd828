declare module 'dynalite';
declare module 'dynalite/db/index.js';
