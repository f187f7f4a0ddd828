declare module 'dynalite*';
