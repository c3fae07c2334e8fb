/** Batch slots of one tenant in all processors together. */
export interface TenantShare {
  readonly tenant: string;
  /** Claimed batches. */
  readonly running: number;
  /** Batches that could run now. */
  readonly waiting: number;
}

/**
 * The tenant that must release a slot for a tenant that waits with fewer running batches:
 * the one with most batches here, if it still has at least as many as the other
 * afterwards. So slots do not move back and forth.
 * @param here tenants with batches in this processor, which has no free slot
 */
export function tenantToPreempt(
  shares: readonly TenantShare[],
  here: ReadonlySet<string>,
): string | undefined {
  const waiting = shares.filter(share => share.waiting > 0).map(({ running }) => running);
  if (waiting.length === 0) return undefined;
  const least = Math.min(...waiting);
  const most = shares
    .filter(({ tenant }) => here.has(tenant))
    .reduce<TenantShare | undefined>(
      (best, share) => (share.running > (best?.running ?? 0) ? share : best),
      undefined,
    );
  return most && most.running > least + 1 ? most.tenant : undefined;
}
