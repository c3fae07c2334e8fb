interface Tenant {
  served: number;
  present: number;
}

/**
 * Virtual token counters: what each tenant was given so far. Who has the least goes first, so tenants who always have
 * work stay within a bounded gap of each other, whatever the lengths of their requests. Idle time is not saved up: a tenant who
 * comes back is lifted to the least of those who are here.
 */
export class TenantCounters {
  readonly #tenants = new Map<string, Tenant>();

  /** Tenants that are remembered. */
  get size(): number {
    return this.#tenants.size;
  }

  /** Weighted tokens; of a tenant that is not here, 0. */
  served(tenant: string): number {
    return this.#tenants.get(tenant)?.served ?? 0;
  }

  /** One more request of this tenant is here. */
  join(tenant: string): void {
    const known = this.#tenants.get(tenant);
    if (known && known.present > 0) known.present += 1;
    else this.#tenants.set(tenant, { served: Math.max(known?.served ?? 0, this.#least() ?? 0), present: 1 });
  }

  /** One request less. Who is behind anyway is forgotten: coming back lifts it at least as high. */
  leave(tenant: string): void {
    const known = this.#tenants.get(tenant);
    if (known === undefined) return;
    known.present -= 1;
    if (known.present > 0) return;
    const least = this.#least();
    for (const [name, { present, served }] of this.#tenants)
      if (present === 0 && (least === undefined || served <= least)) this.#tenants.delete(name);
  }

  charge(tenant: string, tokens: number): void {
    const known = this.#tenants.get(tenant);
    if (known) known.served += tokens;
  }

  #least(): number | undefined {
    let least: number | undefined;
    for (const { present, served } of this.#tenants.values())
      if (present > 0 && (least === undefined || served < least)) least = served;
    return least;
  }
}
