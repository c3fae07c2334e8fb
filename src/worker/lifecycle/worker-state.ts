import { Injectable } from '@nestjs/common';
import { BehaviorSubject, type Observable } from 'rxjs';

/**
 * Whether this worker takes work from the shared queue: true while its loop runs and all
 * its connections are up. Reported under the service name `switchyard.pull` of the
 * standard health check; a worker that does not pull is never ready here.
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
    const all =
      this.#parts.get('loop') === true && [...this.#parts.values()].every(Boolean);
    if (all !== this.#ready.value) this.#ready.next(all);
  }
}

/**
 * starting (engine loads) → ready → draining; or starting → draining when stopped early.
 */
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

  /** Without effect on a worker that was stopped while it loaded. */
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
