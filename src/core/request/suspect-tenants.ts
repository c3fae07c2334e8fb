/** Tenants remembered at most; the oldest is forgotten first. */
const MAX_SUSPECTS = 10_000;

/**
 * Tenants whose input ended an engine lately, by model (D-51). Their next requests are suspects
 * from the start: each runs alone, on one replica, after those of others.
 */
export class SuspectTenants {
  readonly #untilMs = new Map<string, number>();

  /** @param suspectMs how long a tenant is a suspect after the last engine that it ended; 0 = never */
  constructor(private readonly suspectMs: number) {}

  crashed(model: string, tenant: string, nowMs: number): void {
    const key = keyOf(model, tenant);
    this.#untilMs.delete(key);
    this.#untilMs.set(key, nowMs + this.suspectMs);
    if (this.#untilMs.size > MAX_SUSPECTS) this.#untilMs.delete(this.#untilMs.keys().next().value!);
  }

  isSuspect(model: string, tenant: string, nowMs: number): boolean {
    if (this.#untilMs.size === 0) return false;
    const key = keyOf(model, tenant);
    const untilMs = this.#untilMs.get(key);
    if (untilMs !== undefined && untilMs <= nowMs) this.#untilMs.delete(key);
    return untilMs !== undefined && untilMs > nowMs;
  }
}

const keyOf = (model: string, tenant: string): string => `${model}\n${tenant}`;
