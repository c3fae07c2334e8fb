import { afterEach, describe, expect, it } from '@jest/globals';
import { type FactoryProvider } from '@nestjs/common';
import { getToken } from '@willsoto/nestjs-prometheus';
import { register } from 'prom-client';
import { aKey } from '../../../test/support/requests.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { schedulerMetricProviders } from './scheduler.metrics.js';

describe('metrics of the scheduler', () => {
  afterEach(() => register.clear());

  it('count speech whose listener heard a pause, from 20 ms on', async () => {
    const name = 'switchyard_speech_stutter_total';
    const provider = schedulerMetricProviders.find(
      one => (one as FactoryProvider).provide === getToken(name),
    ) as FactoryProvider;
    const bus = new DispatchEventBus();
    provider.useFactory(bus);
    const settled = { type: 'settled', status: 'completed', phases: {}, attempts: 1 } as const;
    for (const lateS of [undefined, 0, 0.019, 0.02, 3])
      bus.emit({
        key: aKey('r1'),
        requestId: 'r1',
        model: 'voice',
        priority: 'realtime',
        atMs: 5,
        ...settled,
        lateS,
      });
    const switchyard_speech_stutter_total = (await register.getSingleMetric(name)!.get()).values;
    expect(switchyard_speech_stutter_total).toEqual([{ labels: { model: 'voice' }, value: 2 }]);
  });
});
