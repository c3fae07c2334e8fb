import { type LimitStore } from '../../core/limits/limit-store.port.js';

/**
 * The shared accounts, and this process's own while those cannot be reached: no request
 * fails because of a counter, and each gateway still applies the limits to the requests
 * that it sees.
 * @param onFailure called for every failure of the shared store
 * @param knownError why the shared store is known not to answer; undefined: it is asked
 */
export function failOpenLimitStore(
  shared: LimitStore,
  own: LimitStore,
  onFailure: (error: Error) => void,
  knownError: () => Error | undefined,
): LimitStore {
  async function ask<T>(call: (store: LimitStore) => Promise<T>): Promise<T> {
    const error = knownError();
    if (error) throw error;
    return call(shared);
  }
  const orOwn = <T>(call: (store: LimitStore) => Promise<T>): Promise<T> =>
    ask(call).catch((error: Error) => {
      onFailure(error);
      return call(own);
    });
  // It may have been let in by either.
  const inBoth = async (call: (store: LimitStore) => Promise<void>): Promise<void> => {
    await call(own);
    await ask(call).catch(onFailure);
  };
  return {
    admit: admission => orOwn(store => store.admit(admission)),
    charge: (admission, spent) => orOwn(store => store.charge(admission, spent)),
    release: admission => inBoth(store => store.release(admission)),
    renew: admissions => inBoth(store => store.renew(admissions)),
  };
}
