import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { register } from 'prom-client';
import { metricValues } from '../../../test/support/metric-values.js';
import { Settings } from '../../platform/config/settings.js';
import { DISK_METRICS } from './disk.metrics.js';

describe('data_folder_free_bytes', () => {
  afterEach(() => register.clear());

  it('is what the file system of the data folder has left for this user', async () => {
    const data = { dir: tmpdir() };
    await Test.createTestingModule({
      providers: [...DISK_METRICS, { provide: Settings, useValue: { data } }],
    }).compile();
    const { bavail, bsize } = await statfs(data.dir);
    // Other processes write meanwhile.
    const almost = expect.closeTo((bavail * bsize) / 2 ** 30, 0) as unknown;
    const { '': bytes = NaN } = await metricValues('data_folder_free_bytes');
    expect({ data_folder_free_bytes: bytes / 2 ** 30 }).toEqual({
      data_folder_free_bytes: almost,
    });
  });
});
