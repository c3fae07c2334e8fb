import { Injectable } from '@nestjs/common';
import { BehaviorSubject, type Observable } from 'rxjs';

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
