import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { register } from 'prom-client';
import { metricValues } from '../../../test/support/metric-values.js';
import { MODELS } from '../../platform/config/config.module.js';
import { RealtimeSessions } from './realtime-sessions.js';
import { activeSessions } from './realtime.metrics.js';
import { SessionActivity } from './session/session-activity.js';

describe('metrics of live sessions', () => {
  let app: TestingModule;
  let activity: SessionActivity;

  beforeEach(async () => {
    const countByModel = () => new Map([['stt', 2]]);
    const models = [
      { id: 'stt', kind: 'stt' },
      { id: 'idle', kind: 'stt' },
      { id: 'tts', kind: 'tts' },
    ];
    app = await Test.createTestingModule({
      providers: [
        activeSessions,
        SessionActivity,
        { provide: RealtimeSessions, useValue: { countByModel } },
        { provide: MODELS, useValue: models },
      ],
    }).compile();
    await app.init();
    activity = app.get(SessionActivity);
  });
  afterEach(async () => {
    await app.close();
    register.clear();
  });

  it('time the first and the final text in seconds', async () => {
    activity.count('first_text', 'stt', 250);
    activity.count('final_delay', 'stt', 1500);
    expect(await metricValues('stt_ttfb_seconds')).toEqual({
      'stt sum': 0.25,
      'stt count': 1,
    });
    expect(await metricValues('stt_final_delay_seconds')).toEqual({
      'stt sum': 1.5,
      'stt count': 1,
    });
  });

  it('count voice activity and recoveries by what came', async () => {
    for (const type of [
      'speech_started',
      'speech_started',
      'speech_stopped',
      'recovered',
      'failed',
    ] as const) {
      activity.count(type, 'stt', 0);
    }
    expect(await metricValues('stt_vad_events_total')).toEqual({
      'stt speech_started': 2,
      'stt speech_stopped': 1,
    });
    expect(await metricValues('stt_worker_recoveries_total')).toEqual({
      'stt recovered': 1,
      'stt failed': 1,
    });
  });

  it('show the open sessions of every recognition model', async () => {
    expect(await metricValues('stt_active_sessions')).toEqual({ stt: 2, idle: 0 });
  });
});
