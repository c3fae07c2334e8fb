import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Subject } from 'rxjs';
import { WaitBudget } from '../process/wait-budget.js';

export const DEPENDENCIES = ['redis', 'database', 'blobs'] as const;
type DependencyName = (typeof DEPENDENCIES)[number];

/** What is known of one dependency. */
export interface DependencyState {
  /** `unknown`: not probed yet. */
  readonly status: 'up' | 'down' | 'unknown';
  /** Epoch milliseconds at which the status became that. */
  readonly sinceMs: number;
  /** Epoch milliseconds of the end of the last probe; absent: none has ended. */
  readonly checkedMs?: number;
  /** Why it is down. */
  readonly error?: Error | undefined;
}

interface Watched {
  /** Resolves when the dependency does its work; rejects with the reason when not. */
  readonly probe: () => Promise<unknown>;
  /** An answer that takes longer counts as none. */
  readonly timeoutMs: number;
  readonly timer: NodeJS.Timeout;
  state: DependencyState;
  /** Probes without an answer yet, late ones included. */
  pending: number;
}

const EVERY_MS = 1000;
const TIMEOUT_MS = 2000;
/** A dependency that hangs gets no more probes than these. */
const MOST_PENDING = 3;

/**
 * Whether what this process depends on answers: probed in the background, so that readers
 * never wait for it. `unknown` until the first probe ends.
 */
@Injectable()
export class DependencyMonitor implements OnApplicationShutdown {
  readonly #watched = new Map<DependencyName, Watched>();
  readonly #changes = new Subject<DependencyName>();

  /** A dependency went up or down. */
  readonly changes$ = this.#changes.asObservable();

  onApplicationShutdown(): void {
    for (const { timer } of this.#watched.values()) clearInterval(timer);
    this.#changes.complete();
  }

  /** Probes it from now on, until shutdown. */
  watch(
    name: DependencyName,
    probe: Pick<Watched, 'probe'> & {
      readonly everyMs?: number;
      readonly timeoutMs?: number;
    },
  ): void {
    const { everyMs = EVERY_MS, timeoutMs = TIMEOUT_MS } = probe;
    const look = (): void => void this.#look(name, watched);
    clearInterval(this.#watched.get(name)?.timer);
    const watched: Watched = {
      probe: () => probe.probe(),
      timeoutMs,
      timer: setInterval(look, everyMs).unref(),
      state: { status: 'unknown', sinceMs: Date.now() },
      pending: 0,
    };
    this.#watched.set(name, watched);
    look();
  }

  /** Undefined: this process has no such dependency. */
  state(name: DependencyName): DependencyState | undefined {
    return this.#watched.get(name)?.state;
  }

  states(): [DependencyName, DependencyState][] {
    return [...this.#watched].map(([name, { state }]) => [name, state]);
  }

  isDown(name: DependencyName): boolean {
    return this.state(name)?.status === 'down';
  }

  /** An operation found it down; the next probe that is answered says otherwise. */
  failed(name: DependencyName, error: Error): void {
    const watched = this.#watched.get(name);
    if (watched) this.#enter(name, watched, error);
  }

  async #look(name: DependencyName, watched: Watched) {
    if (watched.pending >= MOST_PENDING) return;
    watched.pending += 1;
    const probed = this.#probe(watched);
    void probed.catch(() => undefined).finally(() => (watched.pending -= 1));
    try {
      const { timeoutMs } = watched;
      await new WaitBudget(timeoutMs, () => new Error(`no answer within ${timeoutMs} ms`)).spend(
        probed,
      );
      this.#enter(name, watched);
    } catch (error) {
      this.#enter(name, watched, error as Error);
    }
  }

  /** A probe that throws is one that rejects. */
  async #probe({ probe }: Watched) {
    await probe();
  }

  #enter(name: DependencyName, watched: Watched, error?: Error) {
    const checkedMs = Date.now();
    const status = error ? 'down' : 'up';
    const before = watched.state;
    const sinceMs = before.status === status ? before.sinceMs : checkedMs;
    watched.state = { status, sinceMs, checkedMs, error };
    if (before.status !== status) this.#changes.next(name);
  }
}
