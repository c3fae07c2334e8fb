import { syncBuiltinESMExports } from 'node:module';
import { jest } from '@jest/globals';

/**
 * The test advances timers, also those that were imported from `node:timers/promises`. What runs at
 * the next turn of the event loop is not faked, so that files and sockets respond.
 */
export function useFakeTimers(): void {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  syncBuiltinESMExports();
}

export function useRealTimers(): void {
  jest.useRealTimers();
  syncBuiltinESMExports();
}
