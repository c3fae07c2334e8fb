import { Injectable } from '@nestjs/common';
import { BehaviorSubject, type Observable } from 'rxjs';

/**
 * Does this worker really take work from the shared queue? True while its loop runs and every connection of it stands. Told
 * under the service name `switchyard.pull` of the standard health check; a worker that only takes calls is never ready here.
 */
@Injectable()
export class PullReadiness {
  readonly #parts = new Map<string, boolean>();
  readonly #ready = new BehaviorSubject(false);

  get ready(): boolean {
    return this.#ready.value;
  }

  /** Now, then every change. */
  get ready$(): Observable<boolean> {
    return this.#ready;
  }

  /** @param part the loop, or a connection */
  report(part: string, ready: boolean): void {
    this.#parts.set(part, ready);
    const all = this.#parts.get('loop') === true && [...this.#parts.values()].every(Boolean);
    if (all !== this.#ready.value) this.#ready.next(all);
  }
}

/** starting (engine loads) → ready → draining; or starting → draining when stopped early. */
export type WorkerPhase = 'starting' | 'ready' | 'draining';

@Injectable()
export class WorkerState {
  readonly #phase = new BehaviorSubject<WorkerPhase>('starting');

  get phase(): WorkerPhase {
    return this.#phase.value;
  }

  /** The phase now, then every change. */
  get phase$(): Observable<WorkerPhase> {
    return this.#phase;
  }

  /** A worker that was told to stop while it loaded stays stopped. */
  ready(): void {
    if (this.phase === 'starting') this.#phase.next('ready');
  }

  draining(): void {
    if (this.phase !== 'draining') this.#phase.next('draining');
  }

  /** Ends the streams of health watchers. */
  closed(): void {
    this.#phase.complete();
  }
}
