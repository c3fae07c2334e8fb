import { afterEach, describe, expect, it } from '@jest/globals';
import { type LiveWorker } from '../../../src/contracts/events/live-event.js';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { formOf } from '../../support/form-of.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { builtLaunch, GatewayRig, until } from '../api/gateway-rig.js';
import { FeedClient } from '../live-feed/feed-client.js';

const GIB = 2 ** 30;
const onDevice = (id: string, options: object = {}): ModelSpec =>
  syntheticModel(
    { loadMs: 800, ...options },
    { id, memory: 8 * GIB, device: [{ id: 'gpu0', memory: 10 * GIB, reserve: 0 }] },
  );

interface Shown {
  readonly used_bytes: number;
  readonly next?: object;
  readonly models: readonly {
    readonly id: string;
    readonly stage: string | null;
    readonly awaited?: string;
  }[];
  readonly history: readonly {
    readonly model: string;
    readonly stage: string;
    readonly to: number | null;
  }[];
}

describe('what is on a device', () => {
  let rig: GatewayRig;
  afterEach(() => rig.close());

  const shown = async (): Promise<Shown> =>
    ((await rig.json('/admin/v1/devices')) as { data: Shown[] }).data[0]!;
  const ask = async (model: string, text = 'a', priority = 'batch'): Promise<number> => {
    const form = formOf({ model }, text);
    const headers = { 'x-priority': priority };
    return (await rig.post('/v1/audio/transcriptions', form, { headers })).status;
  };

  it('is in the admin API with its history, and in the live feed', async () => {
    rig = await GatewayRig.start({ models: [onDevice('a'), onDevice('b')], launch: builtLaunch });
    using feed = await FeedClient.connect(rig.url);
    await feed.join('workers');
    const worker = (id: string) => feed.state('workers')[id] as LiveWorker;
    expect(await shown()).toMatchObject({ used_bytes: 0, history: [] });
    expect(await ask('a')).toBe(200);
    await until(() => worker('a-0').stage === 'resident');
    expect(worker('a-0').device).toBe('gpu0');
    const answer = ask('b');
    await until(() => worker('b-0').stage === 'loading');
    const { used_bytes: used, models } = await shown();
    expect(used).toBe(8 * GIB);
    expect(models).toEqual([
      expect.objectContaining({ id: 'a', stage: null, waiting: 0 }),
      expect.objectContaining({
        ...{ id: 'b', stage: 'loading', waiting: 1 },
        awaited: expect.stringMatching(
          /^b is being loaded on gpu0; b takes requests in about \d+ s$/,
        ),
      }),
    ]);
    expect(await answer).toBe(200);
    const { history } = await shown();
    expect(history.map(({ model, stage }) => `${model} ${stage}`)).toEqual([
      ...['a loading', 'a resident', 'a leaving', 'b loading', 'b resident'],
    ]);
    expect(history.map(({ to }) => to === null)).toEqual([false, false, false, false, true]);
  });

  it('is said with what is next, why, and who leaves for it', async () => {
    const slow = { faults: [{ marker: 'long', action: 'slow', ms: 4000 }] };
    const models = [onDevice('a', slow), onDevice('b')];
    rig = await GatewayRig.start({ models, launch: builtLaunch });
    const long = ask('a', 'long');
    await until(() => (rig.pool.of('a')?.running ?? 0) > 0);
    expect(await shown()).not.toHaveProperty('next');
    const answer = ask('b', 'b', 'realtime');
    let next: object | undefined;
    await until(async () => (next = (await shown()).next) !== undefined);
    expect(next).toEqual({
      ...{ model: 'b', reason: 'realtime', leaving: ['a'], in_s: expect.any(Number) },
      explanation: expect.stringMatching(
        /^b is next on gpu0, because REALTIME requests wait for it; a leaves (now|in \d+ s)$/,
      ),
    });
    expect(await Promise.all([long, answer])).toEqual([200, 200]);
    expect(await shown()).not.toHaveProperty('next');
  });

  it('is forecast from the first answer on: B behind a chat on A that takes as long as the one before', async () => {
    const talk: ModelSpec = {
      ...onDevice('a', { tokens: 300, perTokenMs: 10 }),
      ...{ kind: 'llm', capabilities: ['chat'] },
    };
    rig = await GatewayRig.start({ models: [talk, onDevice('b')], launch: builtLaunch });
    const chat = () =>
      rig.post('/v1/chat/completions', { model: 'a', messages: [{ role: 'user', content: 'a' }] });
    expect((await chat()).status).toBe(200);
    const long = chat();
    await until(() => (rig.pool.of('a')?.running ?? 0) > 0);
    const answer = ask('b', 'b', 'realtime');
    let awaited: string | undefined;
    await until(async () => {
      ({ awaited } = (await shown()).models.find(({ id }) => id === 'b')!);
      return awaited !== undefined;
    });
    const [, aboutS] = /b takes requests in about (\d+) s$/.exec(awaited!) ?? [];
    // Three seconds, and ten for a load of which nothing is known.
    expect(Number(aboutS)).toBeLessThan(30);
    expect([(await long).status, await answer]).toEqual([200, 200]);
  });
});
