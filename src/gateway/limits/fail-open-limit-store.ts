import { type Charge } from '../../core/limits/limit-rules.js';
import { type LimitAdmission, type AdmissionResult, type LimitStore } from '../../core/limits/limit-store.port.js';

/**
 * The shared accounts, and this process's own while those cannot be reached: no request fails because of a counter, and each
 * gateway still holds everybody to the limits as far as it can see.
 */
export class FailOpenLimitStore implements LimitStore {
  /**
   * @param onFailure told of every call that the shared store did not take
   * @param knownError why the shared store is known not to answer; undefined: it is asked
   */
  constructor(
    private readonly shared: LimitStore,
    private readonly own: LimitStore,
    private readonly onFailure: (error: Error) => void,
    private readonly knownError: () => Error | undefined = () => undefined,
  ) {}

  admit(entrance: LimitAdmission): Promise<AdmissionResult> {
    return this.#orOwn(store => store.admit(entrance));
  }

  charge(entrance: LimitAdmission, spent: Charge): Promise<void> {
    return this.#orOwn(store => store.charge(entrance, spent));
  }

  /** In both: it may have been let in by either. */
  async release(entrance: LimitAdmission): Promise<void> {
    await this.own.release(entrance);
    await this.#shared(store => store.release(entrance)).catch(this.onFailure);
  }

  async renew(entrances: readonly LimitAdmission[]): Promise<void> {
    await this.own.renew(entrances);
    await this.#shared(store => store.renew(entrances)).catch(this.onFailure);
  }

  async #orOwn<T>(call: (store: LimitStore) => Promise<T>): Promise<T> {
    try {
      return await this.#shared(call);
    } catch (error) {
      this.onFailure(error as Error);
      return call(this.own);
    }
  }

  async #shared<T>(call: (store: LimitStore) => Promise<T>): Promise<T> {
    const error = this.knownError();
    if (error) throw error;
    return call(this.shared);
  }
}
