/** Error that the person who started the emulator can fix. `subject` is what prevents the start. */
export class EmulatorError extends Error {
  override readonly name = 'EmulatorError';
  readonly subject: 'stack' | 'unsupported' | 'tables' | 'lock' | 'port';

  constructor(subject: EmulatorError['subject'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.subject = subject;
  }
}
