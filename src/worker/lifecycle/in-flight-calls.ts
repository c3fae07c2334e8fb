import { Injectable } from '@nestjs/common';
import { SlotMap } from '@switchyard/engine-api/slot-map.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type DeviceProgress, mostOverdue } from '../../core/request/device-progress.js';
import { WorkerState } from './worker-state.js';

/** Reads how long a call has had the device, and how long it may. */
type DeviceLook = () => DeviceProgress | Promise<DeviceProgress>;

interface RunningCall {
  /** Names this attempt at the request (D-56); empty: its caller names none. */
  readonly attempt: string;
  readonly stop: AbortController;
  /** Engine calls that compute it now. */
  readonly looks: Set<DeviceLook>;
}

/**
 * Requests in flight, by id: admits calls, finds them for Cancel and Progress, and counts
 * them for a drain. One AbortSignal per request, aborted by whichever comes first: the call's own
 * 'cancelled' event (the caller left, or its deadline passed; Nest's handler would run
 * on), the Cancel RPC, or shutdown. The first cause decides the error.
 */
@Injectable()
export class InFlightCalls {
  readonly #calls = new SlotMap<string, RunningCall>();
  #idle = Promise.withResolvers<void>();

  constructor(private readonly state: WorkerState) {}

  get size(): number {
    return this.#calls.size;
  }

  /**
   * Runs `work` under one AbortSignal.
   *
   * @param call its request, and what names this attempt at it
   * @param rpc what of a grpc-js server call reports its client's disconnect; undefined:
   *   no connection could break
   * @throws DomainError `no_worker` while the engine loads, `shutting_down` while
   *   draining (both UNAVAILABLE: another
   * worker
   *   can take it), `duplicate_request_id`, `missing_required_parameter`; else what `work` throws.
   */
  async run<T>(
    { id, attempt = '' }: { readonly id: string; readonly attempt?: string | undefined },
    rpc:
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
    if (rpc?.cancelled) left();
    else rpc?.once('cancelled', left);
    this.#calls.set(id, { attempt, stop, looks: new Set() });
    try {
      return await work(stop.signal);
    } finally {
      rpc?.off('cancelled', left);
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
   * @param attempt empty: whichever runs
   */
  cancel(id: string, reason: string, attempt = ''): boolean {
    const call = this.#find(id, attempt);
    const why = reason === '' ? '' : ` (${reason})`;
    call?.stop.abort(new DomainError('request_cancelled', `The request was cancelled${why}.`));
    return call !== undefined;
  }

  /** An engine call with these requests begins. @returns what marks its end */
  onDevice(ids: Iterable<string>, look: DeviceLook): () => void {
    const members = [...new Set(ids)].flatMap(id => this.#calls.get(id)?.looks ?? []);
    for (const looks of members) looks.add(look);
    return () => members.forEach(looks => looks.delete(look));
  }

  /** Undefined for an unknown request. @param attempt empty: any attempt */
  async progress(id: string, attempt = ''): Promise<DeviceProgress | undefined> {
    const call = this.#find(id, attempt);
    return call && mostOverdue(await Promise.all(Array.from(call.looks, async look => look())));
  }

  abortAll(error: DomainError): void {
    for (const { stop } of this.#calls.values()) stop.abort(error);
  }

  /** Resolves when no call is left. */
  idle(): Promise<void> {
    return this.size === 0 ? Promise.resolve() : this.#idle.promise;
  }

  #find(id: string, attempt: string): RunningCall | undefined {
    const call = this.#calls.get(id);
    const isOther = attempt !== '' && call?.attempt !== '' && call?.attempt !== attempt;
    return isOther ? undefined : call;
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
