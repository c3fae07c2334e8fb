/** What one tenant has of the slots for batches, in all processors together. */
export interface TenantShare {
  readonly tenant: string;
  /** Batches that a processor holds. */
  readonly running: number;
  /** Batches that could run now. */
  readonly waiting: number;
}

/**
 * Who gives a slot to a tenant that waits with fewer running batches: the one with most of those here, when it still has no fewer
 * than the other afterwards. So nothing goes back and forth.
 * @param here tenants with batches in this processor, whose slots are all taken
 */
export function tenantToPreempt(shares: readonly TenantShare[], here: ReadonlySet<string>): string | undefined {
  const waiting = shares.filter(share => share.waiting > 0).map(({ running }) => running);
  if (waiting.length === 0) return undefined;
  const least = Math.min(...waiting);
  const most = shares
    .filter(({ tenant }) => here.has(tenant))
    .reduce<TenantShare | undefined>((best, share) => (share.running > (best?.running ?? 0) ? share : best), undefined);
  return most && most.running > least + 1 ? most.tenant : undefined;
}
