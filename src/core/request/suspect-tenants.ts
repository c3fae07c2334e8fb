import { RecentMap } from './recent-map.js';

/** How their requests are placed. */
export const SUSPECT = { mostTogether: 1, yields: true } as const;

/** Tenants remembered at most; the one that ended an engine longest ago is forgotten first. */
const MAX_SUSPECTS = 10_000;

/**
 * Tenants whose input ended an engine lately, by model (D-51). Their next requests are suspects
 * from the start: each runs alone, on one replica, after those of others.
 */
export class SuspectTenants {
  readonly #untilMs = new RecentMap<number>(MAX_SUSPECTS);

  /** @param suspectMs how long a tenant is a suspect after the last engine that it ended; 0 = never */
  constructor(private readonly suspectMs: number) {}

  crashed(model: string, tenant: string, nowMs: number): void {
    this.#untilMs.add(keyOf(model, tenant), nowMs + this.suspectMs);
  }

  isSuspect(model: string, tenant: string, nowMs: number): boolean {
    this.#untilMs.dropWhile(untilMs => untilMs <= nowMs);
    return this.#untilMs.get(keyOf(model, tenant)) !== undefined;
  }
}

const keyOf = (model: string, tenant: string): string => `${model}\n${tenant}`;
