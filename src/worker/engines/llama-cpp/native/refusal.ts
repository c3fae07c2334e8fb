/** What a caller asked for cannot be had: told to the caller, not logged as a failure. */
export class Refusal extends Error {
  constructor(
    readonly code: 'invalid_value' | 'unsupported_parameter' | 'context_length_exceeded',
    message: string,
    readonly param?: string,
  ) {
    super(message);
  }
}
