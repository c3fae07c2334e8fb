const OFF = 'off';
const TOP = /^top-([1-9]\d?|100)$/;
const NAMES = /^[A-Za-z0-9._~-]{1,64}(\s*,\s*[A-Za-z0-9._~-]{1,64}){0,99}$/;
/** How long requests are counted before it is decided anew who is named. */
const WINDOW_MS = 60_000;
/** Tenants counted in one window; beyond it they are known as `other` only. */
const MOST_COUNTED = 10_000;

/** Value of the label for tenants that are not named. */
const OTHER_TENANTS = 'other';

export const isTenantSetting = (text: string): boolean =>
  text === OFF || TOP.test(text) || NAMES.test(text);

/**
 * `metrics.tenants`: who is named in the label `tenant`, so that it never has more values
 * than were asked for. `top-N` names the N with most requests of the last minute; a named
 * tenant stays so until another has more.
 */
export class TenantLabels {
  readonly enabled: boolean;
  readonly #most: number;
  readonly #named: Set<string>;
  #counts = new Map<string, number>();
  #sinceMs: number;

  /** @param onDropped the series of that tenant end */
  constructor(
    text: string,
    private readonly nowMs: () => number,
    private readonly onDropped: (tenant: string) => void,
  ) {
    const top = TOP.exec(text)?.[1];
    this.enabled = text !== OFF;
    this.#most = Number(top ?? 0);
    this.#named = new Set(
      top !== undefined || !this.enabled ? [] : text.split(',').map(name => name.trim()),
    );
    this.#sinceMs = nowMs();
  }

  /** Who has series of their own now. */
  get named(): readonly string[] {
    return [...this.#named];
  }

  /** Every value of the label now. */
  get values(): readonly string[] {
    return [...this.#named, OTHER_TENANTS];
  }

  labelOf(tenant: string): string {
    return this.#named.has(tenant) ? tenant : OTHER_TENANTS;
  }

  /** A request of the tenant came. */
  count(tenant: string): void {
    if (this.#most === 0) return;
    if (this.nowMs() - this.#sinceMs >= WINDOW_MS) this.#decide();
    if (this.#named.size < this.#most) this.#named.add(tenant);
    if (this.#counts.size < MOST_COUNTED || this.#counts.has(tenant))
      this.#counts.set(tenant, (this.#counts.get(tenant) ?? 0) + 1);
  }

  #decide() {
    const counts = this.#counts;
    // A stable sort: of two with as many requests, the one that is named stays.
    const ranking = [...new Set([...this.#named, ...counts.keys()])].sort(
      (one, other) => (counts.get(other) ?? 0) - (counts.get(one) ?? 0),
    );
    const next = new Set(ranking.slice(0, this.#most));
    for (const tenant of this.#named) if (!next.has(tenant)) this.#drop(tenant);
    for (const tenant of next) this.#named.add(tenant);
    this.#counts = new Map();
    this.#sinceMs = this.nowMs();
  }

  #drop(tenant: string) {
    this.#named.delete(tenant);
    this.onDropped(tenant);
  }
}
