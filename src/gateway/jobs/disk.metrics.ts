import { type Provider } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { metricProvider } from '../../platform/metrics/metric-provider.js';
import { freeBytes } from '../../platform/storage/storage-problems.js';

/** A folder that cannot be asked has no value: the alert on its absence says so. */
export const DISK_METRICS: Provider[] = [
  metricProvider('data_folder_free_bytes', {
    inject: [Settings],
    collect: async (gauge, { data }: Settings) => gauge.set(await freeBytes(data.dir)),
  }),
];
