import { Injectable } from '@nestjs/common';
import { BehaviorSubject } from 'rxjs';

/**
 * Whether this worker takes work from the shared queue: true while its loop runs and all
 * its connections are up. Reported under the service name `switchyard.pull` of the
 * standard health check; a worker that does not pull is never ready here.
 */
@Injectable()
export class PullReadiness {
  readonly #parts = new Map<string, boolean>();
  /** Now, then every change. */
  readonly ready$ = new BehaviorSubject(false);

  /** Reports whether one part is ready. @param part `loop`, or the name of a connection */
  report(part: string, ready: boolean): void {
    this.#parts.set(part, ready);
    const all = this.#parts.get('loop') === true && [...this.#parts.values()].every(Boolean);
    if (all !== this.ready$.value) this.ready$.next(all);
  }
}

/**
 * starting (engine loads) → ready → draining; or starting → draining when stopped early.
 */
type WorkerPhase = 'starting' | 'ready' | 'draining';

@Injectable()
export class WorkerState {
  #port = 0;

  /** Where it listens; 0: not yet. */
  get port(): number {
    return this.#port;
  }

  listening(port: number): void {
    this.#port = port;
  }

  /** The phase now, then every change. */
  readonly phase$ = new BehaviorSubject<WorkerPhase>('starting');

  get phase(): WorkerPhase {
    return this.phase$.value;
  }

  /** Without effect on a worker that was stopped while it loaded. */
  ready(): void {
    if (this.phase === 'starting') this.phase$.next('ready');
  }

  draining(): void {
    if (this.phase !== 'draining') this.phase$.next('draining');
  }

  /** Ends the streams of health watchers. */
  closed(): void {
    this.phase$.complete();
  }
}
