/** SQLite's result codes for what passes: busy, locked, read-only, I/O, full, cannot open, protocol of locks. */
const SQLITE_PASSING = new Set([5, 6, 8, 10, 13, 14, 15]);
/** Classes of SQLSTATE: connection, rolled back by the server, resources, not now, operator, system; a transaction left idle. */
const SQLSTATE_PASSING = /^(08|40|53|55|57|58|25P03)/;
const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;
const SQLSTATE_FULL = '53100';

/**
 * A disk, database, network or blob store that does not do its work now: everything is kept and tried again. Anything else is a
 * mistake of ours, and repeating it would not help.
 */
export function isOutage(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, $metadata, $fault, severity, errcode, message, cause } = error as Readonly<Record<string, unknown>>;
  // S3: whatever its server or the way to it said.
  if ($metadata !== undefined || $fault !== undefined) return true;
  // Postgres: the server spoke, and it may be about our question.
  if (typeof severity === 'string') return SQLSTATE_PASSING.test(String(code));
  if (typeof errcode === 'number') return SQLITE_PASSING.has(errcode & 0xff);
  // ERR_… are Node's complaints about arguments; others are the system's.
  if (typeof code === 'string') return !code.startsWith('ERR_');
  return /connection|timeout|terminat/i.test(String(message)) || isOutage(cause);
}

/** Another process has the lock of the SQLite file. */
export const isLockedSqlite = (error: unknown): boolean => sqliteCode(error) === SQLITE_BUSY;

/** The database says that its disk has no room. */
export const isFullDatabase = (error: unknown): boolean =>
  sqliteCode(error) === SQLITE_FULL || (error as { code?: unknown } | null)?.code === SQLSTATE_FULL;

/** Extended codes carry the plain one in their low byte. */
function sqliteCode(error: unknown): number | undefined {
  const { errcode } = (error ?? {}) as { errcode?: unknown };
  return typeof errcode === 'number' ? errcode & 0xff : undefined;
}
