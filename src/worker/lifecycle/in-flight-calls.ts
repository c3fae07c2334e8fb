import { Injectable } from '@nestjs/common';
import { DomainError } from '../../core/errors/domain-error.js';
import { SlotMap } from '../../core/request/slot-map.js';
import { WorkerState } from './worker-state.js';

/**
 * Requests in flight, by id: admits calls, finds them for Cancel, and counts them for a
 * drain. One AbortSignal per request, aborted by whichever comes first: the call's own
 * 'cancelled' event (the caller left, or its deadline passed; Nest's handler would run
 * on), the Cancel RPC, or shutdown. The first cause decides the error.
 */
@Injectable()
export class InFlightCalls {
  readonly #calls = new SlotMap<string, AbortController>();
  #idle = Promise.withResolvers<void>();

  constructor(private readonly state: WorkerState) {}

  get size(): number {
    return this.#calls.size;
  }

  /**
   * Runs `work` under one AbortSignal.
   *
   * @param call what of a grpc-js server call reports its client's disconnect; undefined:
   *   no connection could break
   * @throws DomainError `no_worker` while the engine loads, `shutting_down` while
   *   draining (both UNAVAILABLE: another
   * worker
   *   can take it), `duplicate_request_id`, `missing_required_parameter`; else what `work` throws.
   */
  async run<T>(
    id: string,
    call:
      | {
          readonly cancelled: boolean;
          once(event: 'cancelled', listener: () => void): unknown;
          off(event: 'cancelled', listener: () => void): unknown;
        }
      | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    this.#assertAcceptable(id);
    const stop = new AbortController();
    const left = (): void =>
      stop.abort(new DomainError('request_cancelled', 'The caller cancelled the call.'));
    if (call?.cancelled) left();
    else call?.once('cancelled', left);
    this.#calls.set(id, stop);
    try {
      return await work(stop.signal);
    } finally {
      call?.off('cancelled', left);
      this.#calls.delete(id);
      if (this.size === 0) {
        this.#idle.resolve();
        this.#idle = Promise.withResolvers();
      }
    }
  }

  /**
   * True when the request is known: its work stops at the next checkpoint and its call
   * then ends. Idempotent.
   */
  cancel(id: string, reason: string): boolean {
    const call = this.#calls.get(id);
    const why = reason === '' ? '' : ` (${reason})`;
    call?.abort(new DomainError('request_cancelled', `The request was cancelled${why}.`));
    return call !== undefined;
  }

  abortAll(error: DomainError): void {
    for (const call of this.#calls.values()) call.abort(error);
  }

  /** Resolves when no call is left. */
  idle(): Promise<void> {
    return this.size === 0 ? Promise.resolve() : this.#idle.promise;
  }

  #assertAcceptable(id: string): void {
    if (this.state.phase === 'starting')
      throw new DomainError('no_worker', 'The worker is loading its model.');
    if (this.state.phase === 'draining')
      throw new DomainError('shutting_down', 'The worker is shutting down.');
    if (id === '')
      throw new DomainError('missing_required_parameter', 'request_id is empty.', {
        param: 'request_id',
      });
    if (this.#calls.has(id))
      throw new DomainError(
        'duplicate_request_id',
        `Request ${id} is still running on this worker.`,
      );
  }
}
