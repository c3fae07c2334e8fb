import { setTimeout as sleep } from 'node:timers/promises';
import { type Provider } from '@nestjs/common';
import { type Gauge } from 'prom-client';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { metricProvider } from '../../platform/metrics/metric-provider.js';
import { freeBytes } from '../../platform/storage/storage-problems.js';

/** A scrape does not wait for a file system that hangs. */
const LIMIT_MS = 500;

export const DISK_METRICS: Provider[] = [
  metricProvider('data_folder_free_bytes', { inject: [SETTINGS], collect: readFree }),
];

/** No value when the folder cannot be asked: the alert on its absence says so. */
async function readFree(gauge: Gauge, { data }: Settings): Promise<void> {
  const answered = new AbortController();
  const free = freeBytes(data.dir).catch(() => undefined);
  const late = sleep(LIMIT_MS, undefined, { signal: answered.signal }).catch(
    () => undefined,
  );
  const bytes = await Promise.race([free, late]);
  answered.abort();
  if (bytes === undefined) gauge.reset();
  else gauge.set(bytes);
}
