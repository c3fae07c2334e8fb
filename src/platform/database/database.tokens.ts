/**
 * Injection token of `() => Promise<void>`, which resolves when the database answers.
 */
export const DATABASE_PING = Symbol('DATABASE_PING');
