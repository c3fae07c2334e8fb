interface Tenant {
  served: number;
  present: number;
  weight: number;
}

/**
 * Virtual token counters: what each tenant was given so far, divided by its weight. The tenant with the least goes
 * first, so tenants who always have work stay within a bounded gap of each other, whatever the lengths of their
 * requests. Idle time is not saved up: a tenant who returns is lifted to the least of those present.
 */
export class TenantCounters {
  readonly #tenants = new Map<string, Tenant>();

  /** Tenants with a counter. */
  get size(): number {
    return this.#tenants.size;
  }

  /** Tokens by their charges, divided by the weight; 0 for an unknown tenant. */
  served(tenant: string): number {
    return this.#tenants.get(tenant)?.served ?? 0;
  }

  /** One more request of this tenant is present, which has this weight from now on. */
  join(tenant: string, weight = 1): void {
    const { served = 0, present = 0 } = this.#tenants.get(tenant) ?? {};
    const from = present > 0 ? served : Math.max(served, this.#least() ?? 0);
    this.#tenants.set(tenant, { served: from, present: present + 1, weight });
  }

  /** One request less. Absent tenants that are behind anyway are dropped: returning lifts them at least as high. */
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
    if (known) known.served += tokens / known.weight;
  }

  #least(): number | undefined {
    let least: number | undefined;
    for (const { present, served } of this.#tenants.values())
      if (present > 0 && (least === undefined || served < least)) least = served;
    return least;
  }
}
