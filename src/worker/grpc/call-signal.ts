import { DomainError } from '../../core/shared/domain-error.js';

/** The part of a grpc-js server call that tells about its client. */
export interface CancellableCall {
  readonly cancelled: boolean;
  once(event: 'cancelled', listener: () => void): unknown;
  off(event: 'cancelled', listener: () => void): unknown;
}

/**
 * One AbortSignal per request, aborted by whichever comes first: the call's own 'cancelled' event (the caller left, or its
 * deadline passed; Nest's handler would run on), the Cancel RPC, or shutdown. The first cause decides the error.
 */
export class CallSignal implements Disposable {
  readonly #controller = new AbortController();
  readonly #call: CancellableCall;
  readonly #clientLeft = (): void => this.abort(new DomainError('request_cancelled', 'The caller cancelled the call.'));

  constructor(call: CancellableCall) {
    this.#call = call;
    if (call.cancelled) this.#clientLeft();
    else call.once('cancelled', this.#clientLeft);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Harmless when aborted already. */
  abort(error: DomainError): void {
    this.#controller.abort(error);
  }

  [Symbol.dispose](): void {
    this.#call.off('cancelled', this.#clientLeft);
  }
}
