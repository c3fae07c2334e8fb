/**
 * A disk, database, network or blob store that does not do its work now: the job keeps everything and tries again. Anything
 * else is a mistake of ours, and repeating it would not help.
 */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, $metadata, $fault } = error as Error & { code?: unknown; $metadata?: unknown; $fault?: unknown };
  // ERR_… are Node's complaints about arguments, but for its SQLite.
  if ($metadata !== undefined || $fault !== undefined) return true;
  if (typeof code === 'string') return !code.startsWith('ERR_') || code.startsWith('ERR_SQLITE');
  return /connection|timeout|terminat/i.test(error.message) || (error.cause !== undefined && isOutage(error.cause));
}
