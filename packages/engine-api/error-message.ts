/** The text of anything that was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * With those of its causes: `The database does not answer: connect
 * ECONNREFUSED 127.0.0.1:5432`.
 */
export function fullErrorMessage(error: unknown): string {
  // A connection that was tried at several addresses has no message of its own.
  const { cause, errors } = error as Partial<AggregateError>;
  const inner: unknown = cause ?? errors?.[0];
  if (inner === undefined) return errorMessage(error);
  return [errorMessage(error).replace(/\.$/, ''), fullErrorMessage(inner)]
    .filter(Boolean)
    .join(': ');
}
