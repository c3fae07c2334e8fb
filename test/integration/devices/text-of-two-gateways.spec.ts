import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { DEVICE_LEASE_MS } from '@switchyard/shared-queue/client/device-leases.js';
import { HEARTBEAT_MS } from '@switchyard/shared-queue/heartbeat.js';
import { QueueKeys } from '@switchyard/shared-queue/keys.js';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { onDevice } from '../../support/device-rig.js';
import { type GatewayProcess } from '../../support/gateway-process.js';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { pause } from '../../support/waiting.js';
import { GatewayPair } from './gateway-pair.js';

const SLOTS = 2;
const OK = { status: 200 };
const WHOLE = { isWhole: true };
/** Of each, one fits. */
const LARGE = { memory: '8GiB', min_residence_s: 0 };

/** A text model. */
const talks = (id: string, options: object = {}): ModelSpec =>
  onDevice(
    id,
    { kind: 'llm', capabilities: ['chat', 'completions'], ...LARGE },
    { baseMs: 20, tokens: 3, maxConcurrent: SLOTS, streams: 0, ...options },
  );
/** A model whose workers pull. */
const hears = (id: string): ModelSpec => onDevice(id, LARGE);

const MODELS = [
  talks('talk', { baseMs: 400 }),
  talks('slow', { tokens: 60, perTokenMs: 100 }),
  talks('other'),
  talks('stuck', {
    faults: [{ marker: 'forever', action: 'hang', afterTokens: 2 }],
    maxConcurrent: 1,
  }),
  hears('ears'),
  hears('synthetic'),
];

let pair: GatewayPair;
beforeAll(async () => {
  pair = await GatewayPair.start(MODELS, { 'workers.health_interval_ms': 100 });
});
beforeEach(() => pair.again());
afterAll(() => pair[Symbol.asyncDispose]());

describeWith(REDIS)('text for models on one device of two gateways', () => {
  /** Requests that the worker of a model has. */
  const inFlight = async (gateway: GatewayProcess): Promise<number> => {
    const { body } = await gateway.call('GET', '/admin/v1/workers');
    const { data } = JSON.parse(body.toString()) as { data: { health?: { in_flight: number } }[] };
    return Math.max(0, ...data.map(({ health }) => health?.in_flight ?? 0));
  };

  /** Its process is `before`. */
  const talkIsLoaded = async () => {
    const [holder, other] = await pair.roles();
    expect(await pair.chat(other, 'talk')).toMatchObject(OK);
    await pair.until('its process is seen', () => pair.alive.length === 1);
    return { holder, other, before: pair.alive };
  };

  it('is answered at both: one load, and together no more at its worker than its slots', async () => {
    const [holder, other] = await pair.roles();
    expect(await pair.chat(other, 'talk')).toMatchObject(OK);
    let most = 0;
    let isOver = false;
    const watch = (async () => {
      for (; !isOver; await pause(50)) most = Math.max(most, await inFlight(holder));
    })();
    const chats = [holder, other, holder, other, other, holder, other, holder];
    const answers = await Promise.all(chats.map(gateway => pair.chat(gateway, 'talk')));
    isOver = true;
    await watch;
    expect(answers).toMatchObject(chats.map(() => OK));
    expect(most).toBe(SLOTS);
    expect([await pair.loads('talk'), pair.alive.length]).toEqual([1, 1]);
    const states = pair.gateways.map(gateway => pair.stateOf(gateway, 'talk'));
    expect(await Promise.all(states)).toEqual(['loaded', 'loaded']);
    const drained = await other.call('POST', '/admin/v1/workers/talk-0/drain');
    expect([drained.status, drained.body.toString()]).toEqual([
      409,
      expect.stringContaining('worker_not_supervised'),
    ]);
    expect((await holder.call('POST', '/admin/v1/workers/talk-0/drain')).status).toBe(200);
    // The next heartbeat says so.
    await pause(2 * HEARTBEAT_MS);
    const waits = pair.chat(other, 'talk');
    await pair.until('it waits', async () => {
      const { body } = await other.call('GET', '/admin/v1/requests?state=queued');
      return (JSON.parse(body.toString()) as { total: number }).total === 1;
    });
    await holder.call('POST', '/admin/v1/workers/talk-0/resume');
    expect(await waits).toMatchObject(OK);
  });

  it('takes turns with other models, asked at both, and cuts off nothing', async () => {
    const [holder, other] = await pair.roles();
    const streams = await Promise.all([
      pair.stream(other, 'slow', 'a long answer'),
      pair.stream(holder, 'slow', 'another one'),
    ]);
    expect(streams).toMatchObject([OK, OK]);
    const ended: string[] = [];
    const noted = async <T>(name: string, answer: Promise<T>): Promise<T> => {
      const got = await answer;
      ended.push(name);
      return got;
    };
    const rest = streams.map(stream => noted('stream', stream.rest));
    const asked = [
      noted('other', pair.chat(other, 'other', 'a', 'realtime')),
      noted('ears', pair.ask(holder, 'ears', 'realtime')),
    ];
    expect(await Promise.all(rest)).toMatchObject([WHOLE, WHOLE]);
    expect(await Promise.all(asked)).toMatchObject([OK, OK]);
    expect(ended.slice(0, 2)).toEqual(['stream', 'stream']);
    const models = ['slow', 'other', 'ears', 'other', 'slow', 'ears', 'slow', 'other'];
    const answers = await Promise.all(
      models.map(async (model, at) => {
        await pause(at * 200);
        const gateway = pair.gateways[at % 2]!;
        const priority = at % 3 === 0 ? 'realtime' : 'batch';
        return model === 'ears'
          ? pair.ask(gateway, model, priority)
          : pair.chat(gateway, model, 'a', priority);
      }),
    );
    expect(answers).toMatchObject(models.map(() => OK));
    expect(pair.most).toBe(1);
  });

  it('kill -9 of the one that loads: its models end, and the other one answers', async () => {
    const { holder, other, before } = await talkIsLoaded();
    const waiting = pair.chat(other, 'other');
    await pair.kill(holder);
    const answers = await Promise.all([waiting, pair.chat(other, 'talk')]);
    expect(answers).toMatchObject([OK, OK]);
    expect(before.filter(pid => isAlive(pid))).toEqual([]);
    expect(pair.most).toBe(1);
  });

  it('kill -9 of the other one: the slot of its stream comes back, and the model can leave', async () => {
    const [holder, other] = await pair.roles();
    const stream = await pair.stream(other, 'stuck', 'forever');
    const next = pair.chat(holder, 'stuck');
    await pair.kill(other);
    expect(await next).toMatchObject(OK);
    expect(await pair.chat(holder, 'other')).toMatchObject(OK);
    expect([stream.status, (await stream.rest).isWhole, pair.most]).toEqual([200, false, 1]);
  });

  it('a stop of the one that loads lets the streams of the other one end', async () => {
    const [holder, other] = await pair.roles();
    const stream = await pair.stream(other, 'slow', 'a long answer');
    await pair.stop(holder);
    expect(await stream.rest).toMatchObject(WHOLE);
    expect(await pair.chat(other, 'talk')).toMatchObject(OK);
    expect(pair.most).toBe(1);
  });

  it('one that freezes loses the device: its model answers the other one until it is back', async () => {
    const { holder, other, before } = await talkIsLoaded();
    pair.freeze(holder);
    await pair.until(
      'the other one has the device',
      async () => (await pair.device(other)).loaded_by === undefined,
    );
    const waits = pair.chat(other, 'other', 'a', 'realtime');
    expect(await pair.chat(other, 'talk')).toMatchObject(OK);
    expect([...pair.alive]).toEqual([...before]);
    pair.thaw(holder);
    expect(await waits).toMatchObject(OK);
    expect(before.filter(pid => isAlive(pid))).toEqual([]);
    expect(pair.most).toBe(1);
  });

  it('goes on while Redis is away, streams too, and models take turns when it is back', async () => {
    const [holder, other] = await pair.roles();
    const stream = await pair.stream(other, 'slow', 'a long answer');
    const before = pair.alive;
    await pair.redis.kill();
    const next = await Promise.all(pair.gateways.map(one => pair.stream(one, 'slow', 'next')));
    expect(next).toMatchObject([OK, OK]);
    expect(await stream.rest).toMatchObject(WHOLE);
    await pause(DEVICE_LEASE_MS);
    await pair.redis.restart();
    expect(await Promise.all(next.map(({ rest }) => rest))).toMatchObject([WHOLE, WHOLE]);
    expect([...pair.alive]).toEqual([...before]);
    const swapped = [pair.chat(holder, 'other'), pair.chat(other, 'other')];
    expect(await Promise.all(swapped)).toMatchObject([OK, OK]);
    expect(pair.most).toBe(1);
  });

  it('is refused with the reason where another machine loads the model', async () => {
    const [, other] = await pair.roles();
    const lease = new QueueKeys('switchyard').device('gpu0');
    await pair.client.set(lease, 'gw_far far', 'PX', 600_000);
    await pair.until('it knows', async () => (await pair.stateOf(other, 'talk')) === 'failed');
    const { status, body } = await pair.chat(other, 'talk');
    expect([status, body]).toEqual([
      503,
      expect.stringContaining('gw_far loads it on the host far'),
    ]);
    expect(body).toContain('model_load_failed');
    await pair.client.del(lease);
    await pair.until('it can be loaded again', async () => {
      const states = pair.gateways.map(gateway => pair.stateOf(gateway, 'talk'));
      return !(await Promise.all(states)).includes('failed');
    });
  });
});

describeWith(REDIS)('live sessions of models on one device of two gateways', () => {
  it('begin at both when the model is loaded for them, share its streams, and hold it', async () => {
    const [holder, other] = await pair.roles();
    const speaking = async ({ port }: GatewayProcess, said: string) => {
      const client = await RealtimeClient.synthetic(`http://127.0.0.1:${port}`);
      client.say(said);
      client.commit();
      return client;
    };
    const completed = (client: RealtimeClient) => client.next(`${TRANSCRIPTION}.completed`);
    const first = await speaking(other, 'one ');
    await completed(first);
    const warnings = first.events.filter(({ type }) => type === 'session.warning');
    expect(warnings).toMatchObject([{ warning: { code: 'model_loading' } }]);
    const second = await speaking(holder, 'two ');
    await completed(second);
    const third = await speaking(other, 'three ');
    expect((await third.next('error')).error).toMatchObject({ code: 'queue_full' });
    second.socket.close(1000);

    let isAnswered = false;
    const ears = pair.ask(holder, 'ears', 'realtime').then(answer => {
      isAnswered = true;
      return answer;
    });
    await pair.until('it leaves', async () => {
      const { body } = await holder.call('GET', '/admin/v1/devices');
      return body.toString().includes('"stage":"leaving"');
    });
    first.say('more ');
    first.commit();
    await completed(first);
    expect(isAnswered).toBe(false);
    first.socket.close(1000);
    expect(await ears).toMatchObject(OK);
    expect(pair.most).toBe(1);
  });
});
