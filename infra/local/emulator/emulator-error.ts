/** Error that the person who started the emulator can fix. Its message says how. */
export class EmulatorError extends Error {
  override readonly name = 'EmulatorError';
}
