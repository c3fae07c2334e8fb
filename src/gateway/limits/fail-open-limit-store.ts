import { type Charge } from '../../core/limits/limit-rules.js';
import {
  type LimitAdmission,
  type AdmissionResult,
  type LimitStore,
} from '../../core/limits/limit-store.port.js';

/**
 * The shared accounts, and this process's own while those cannot be reached: no request
 * fails because of a counter, and each gateway still applies the limits to the requests
 * that it sees.
 */
export class FailOpenLimitStore implements LimitStore {
  /**
   * @param onFailure called for every failure of the shared store
   * @param knownError why the shared store is known not to answer; undefined: it is asked
   */
  constructor(
    private readonly shared: LimitStore,
    private readonly own: LimitStore,
    private readonly onFailure: (error: Error) => void,
    private readonly knownError: () => Error | undefined = () => undefined,
  ) {}

  admit(admission: LimitAdmission): Promise<AdmissionResult> {
    return this.#orOwn(store => store.admit(admission));
  }

  charge(admission: LimitAdmission, spent: Charge): Promise<void> {
    return this.#orOwn(store => store.charge(admission, spent));
  }

  /** In both: it may have been let in by either. */
  async release(admission: LimitAdmission): Promise<void> {
    await this.own.release(admission);
    await this.#shared(store => store.release(admission)).catch(this.onFailure);
  }

  async renew(admissions: readonly LimitAdmission[]): Promise<void> {
    await this.own.renew(admissions);
    await this.#shared(store => store.renew(admissions)).catch(this.onFailure);
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
