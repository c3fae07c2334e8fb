import { describe, expect, it } from '@jest/globals';
import { DomainError } from '../../core/errors/domain-error.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { ShutdownGrace } from '../lifecycle/shutdown-drain.js';
import { StorageRetries } from './storage-retries.js';

describe('a write that a full database refuses', () => {
  const retries = new StorageRetries(new ShutdownGrace(new ProcessClock(), settingsFrom({})));
  /** Full for the first two attempts. */
  const scripted = () => {
    let attempts = 0;
    return () => {
      attempts += 1;
      return attempts > 2
        ? Promise.resolve(attempts)
        : Promise.reject(new DomainError('storage_full', 'There is no room.'));
    };
  };

  it('is repeated until there is room', async () => {
    await expect(retries.written(scripted())).resolves.toBe(3);
  });

  it('fails when the caller can wait no longer', async () => {
    await expect(retries.written(scripted(), -1)).rejects.toMatchObject({
      code: 'storage_full',
    });
  });
});
