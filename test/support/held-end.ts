import { jest } from '@jest/globals';
import { type StoredRequestStore } from '../../src/platform/database/stored-request-store.js';
import { pause, until } from './waiting.js';

/** The end of the next attempt is written when `written` is called. */
export function heldEnd(store: StoredRequestStore) {
  const gate = Promise.withResolvers<void>();
  const end = store.end.bind(store);
  const ending = jest.spyOn(store, 'end').mockImplementationOnce(async (...call) => {
    await gate.promise;
    return end(...call);
  });
  const reached = () => until(() => pause(5).then(() => ending.mock.calls.length > 0));
  return { reached, written: gate.resolve };
}
