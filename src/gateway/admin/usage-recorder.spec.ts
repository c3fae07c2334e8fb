import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Subject } from 'rxjs';
import { type UsageRow } from '../../core/access/usage-row.js';
import { type EventOf } from '../../core/dispatch/dispatch-event.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { type RecognisedAudio } from '../realtime/session/session-activity.js';
import { UsageRecorder } from './usage-recorder.js';

const NOON_MS = Date.UTC(2026, 0, 2, 12);

describe('usage', () => {
  let bus: DispatchEventBus;
  let recognised$: Subject<RecognisedAudio>;
  let recorder: UsageRecorder;
  let isAway: boolean;
  /** What each write added, and the days before which rows were removed. */
  let writes: (readonly UsageRow[])[];
  let removals: string[];

  const settled = (event: Partial<EventOf<'settled'>> = {}): void =>
    bus.emit({
      type: 'settled',
      model: 'm',
      status: 'completed',
      phases: {},
      ...event,
    } as unknown as EventOf<'settled'>);

  beforeEach(() => {
    jest.useFakeTimers({ now: NOON_MS });
    [bus, recognised$, isAway, writes, removals] = [
      new DispatchEventBus(),
      new Subject(),
      false,
      [],
      [],
    ];
    const store = {
      add: (rows: readonly UsageRow[]) =>
        isAway ? Promise.reject(new Error('away')) : Promise.resolve(void writes.push(rows)),
      removeBefore: (day: string) => Promise.resolve(void removals.push(day)),
    };
    recorder = new UsageRecorder(
      ...([
        store,
        { usage: { keepDays: 2 } },
        bus,
        { recognised$ },
      ] as unknown as ConstructorParameters<typeof UsageRecorder>),
    );
    recorder.onModuleInit();
  });
  afterEach(async () => {
    await recorder.onApplicationShutdown();
    jest.useRealTimers();
  });

  it('is one row for each day, tenant, key and model, with the sums of its requests', async () => {
    settled({ usage: { inputTokens: 3 }, deviceMs: 10 });
    settled({ usage: { inputTokens: 4 }, status: 'failed', deviceMs: 5 });
    settled({ tenant: 'a', keyId: 'k', usage: { audioSeconds: 1.5 } });
    await recorder.flush();
    expect(writes).toEqual([
      [
        expect.objectContaining({
          day: '2026-01-02',
          tenant: 'default',
          key: '',
          requests: 2,
          completed: 1,
          failed: 1,
          cancelled: 0,
          inputTokens: 7,
          deviceMs: 15,
        }),
        expect.objectContaining({ tenant: 'a', key: 'k', requests: 1, audioMs: 1500 }),
      ],
    ]);
  });

  it('takes of a call without device time its share of the call', async () => {
    settled({ phases: { grpcMs: 100, readyMs: 20 }, batchSize: 4 });
    await recorder.flush();
    expect(writes[0]?.[0]).toMatchObject({ deviceMs: 20 });
  });

  it('of live sessions is their audio, and no request', async () => {
    recognised$.next({ model: 'm', audioSeconds: 2, tenant: 'a' });
    await recorder.flush();
    expect(writes[0]?.[0]).toMatchObject({ tenant: 'a', audioMs: 2000, requests: 0 });
  });

  it('that cannot be written is written later, once', async () => {
    settled();
    isAway = true;
    await recorder.flush();
    settled();
    isAway = false;
    await recorder.flush();
    await recorder.flush();
    expect(writes.map(rows => rows.map(({ requests }) => requests))).toEqual([[2]]);
  });

  it('of more than 10,000 groups between two writes is summed under one name', async () => {
    for (let at = 0; at < 10_002; at += 1) settled({ tenant: `t${at}` });
    await recorder.flush();
    expect(writes[0]).toHaveLength(10_001);
    expect(writes[0]?.at(-1)).toMatchObject({ tenant: '~other', key: '~other', requests: 2 });
  });

  it('belongs to the UTC day on which its request settled; old days are removed once a day', async () => {
    settled();
    await recorder.flush();
    await recorder.flush();
    jest.setSystemTime(NOON_MS + 12 * 3_600_000);
    settled();
    await recorder.flush();
    expect(writes.map(([row]) => row?.day)).toEqual(['2026-01-02', '2026-01-03']);
    expect(removals).toEqual(['2025-12-31', '2026-01-01']);
  });
});
