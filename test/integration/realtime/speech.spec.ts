import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { FixtureWorker } from '../../support/fixture-worker.js';
import { RealtimeClient } from '../../support/realtime-client.js';
import { GatewayRig } from '../api/gateway-rig.js';
import { ttsModel } from '../api/models.js';

let worker: FixtureWorker;
let rig: GatewayRig;
let client: RealtimeClient;
beforeAll(async () => {
  worker = new FixtureWorker({ model: 'tts', kind: 'tts' });
  const addresses = [`127.0.0.1:${await worker.start()}`];
  rig = await GatewayRig.start({ models: [ttsModel({ addresses })] });
  await rig.ready('tts');
});
afterAll(async () => {
  worker.releaseAll();
  await rig.close();
  worker.stop();
});
beforeEach(async () => {
  client = await RealtimeClient.open(rig.url);
});
afterEach(() => client.socket.close(1000));

const speak = (text: string, more: object = {}): void => {
  const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }];
  client.send({
    type: 'response.create',
    event_id: 'mine',
    response: { input, ...more },
  });
};

/** The worker has been told. */
async function stopped(requestId: string): Promise<void> {
  while (!worker.cancelled.includes(requestId))
    await new Promise(next => worker.once('cancelled', next));
}

describe('a spoken response', () => {
  it('is OpenAI’s sequence of events around the audio of one synthesis', async () => {
    speak('Hello.', { metadata: { topic: 'greeting' } });
    const done = await client.next('response.done');
    expect(done.response).toMatchObject({
      ...{
        object: 'realtime.response',
        status: 'completed',
        metadata: { topic: 'greeting' },
      },
      output: [
        {
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_audio', transcript: 'Hello.' }],
        },
      ],
    });
    expect([...new Set(client.types())]).toEqual([
      'session.created',
      'response.created',
      'response.output_item.added',
      'conversation.item.added',
      'response.content_part.added',
      'response.output_audio_transcript.delta',
      'response.output_audio.delta',
      'response.output_audio.done',
      'response.output_audio_transcript.done',
      'response.content_part.done',
      'response.output_item.done',
      'conversation.item.done',
      'response.done',
    ]);
    const audio = client.events.filter(({ type }) => type === 'response.output_audio.delta');
    expect(Buffer.concat(audio.map(({ delta }) => Buffer.from(String(delta), 'base64')))).toEqual(
      Buffer.alloc(65_536, 1),
    );
  });

  it('has one predecessor, whoever tells it', async () => {
    const item = {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'One.' }],
    };
    client.send({
      type: 'conversation.item.create',
      item: { id: 'item_mine', ...item },
    });
    client.send({ type: 'response.create' });
    await client.next('response.done');
    const told = client.events.filter(({ item: told }) => told?.role === 'assistant');
    const places = told.filter(({ type }) => type.startsWith('conversation.item.'));
    expect(places.map(({ type, previous_item_id: previous }) => [type, String(previous)])).toEqual([
      ['conversation.item.added', 'item_mine'],
      ['conversation.item.done', 'item_mine'],
    ]);
  });

  it('speaks what was added to the conversation', async () => {
    const item = {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'From the conversation.' }],
    };
    client.send({ type: 'conversation.item.create', item });
    client.send({ type: 'response.create' });
    const done = await client.next('response.done');
    expect(done.response.output[0].content[0].transcript).toBe('From the conversation.');
  });

  it('drops what was added and cannot be spoken, so that what is added later can', async () => {
    const add = (text: string): void => {
      const content = [{ type: 'input_text', text }];
      client.send({
        type: 'conversation.item.create',
        item: { type: 'message', role: 'user', content },
      });
    };
    for (const letter of ['a', 'b']) add(letter.repeat(3000));
    client.send({ type: 'response.create' });
    const { error } = await client.next('error');
    expect(error).toMatchObject({ code: 'invalid_value', param: 'response.input' });
    expect(error.message).toContain('are dropped');
    add('Short.');
    client.send({ type: 'response.create' });
    const done = await client.next('response.done');
    expect(done.response.output[0].content[0].transcript).toBe('Short.');
  });

  it('stops at once when cancelled, and another one can follow', async () => {
    speak('hold');
    const { response } = await client.next('response.created');
    await client.next('response.output_audio.delta');
    client.send({ type: 'response.cancel', response_id: response.id });
    const done = await client.next('response.done');
    expect(done.response).toMatchObject({
      status: 'cancelled',
      status_details: { type: 'cancelled', reason: 'client_cancelled' },
    });
    await stopped(String(response.id));
    speak('Next.');
    expect((await client.next('response.done')).response.status).toBe('completed');
  });

  it('comes one at a time', async () => {
    speak('hold');
    await client.next('response.output_audio.delta');
    speak('me too');
    expect((await client.next('error')).error).toMatchObject({
      code: 'conversation_already_has_active_response',
      event_id: 'mine',
    });
    client.send({ type: 'response.cancel' });
    await client.next('response.done');
  });

  it('that fails says why', async () => {
    speak('fail:engine_failed');
    const { response } = await client.next('response.done');
    expect(response).toMatchObject({
      status: 'failed',
      status_details: { error: { code: 'engine_failed' } },
    });
  });

  it('is refused with an unknown voice', async () => {
    speak('Hello.', { audio: { output: { voice: 'nobody' } } });
    expect((await client.next('error')).error).toMatchObject({
      code: 'voice_not_found',
      event_id: 'mine',
    });
  });

  it('of a client that left is stopped', async () => {
    speak('hold');
    const { response } = await client.next('response.created');
    await client.next('response.output_audio.delta');
    client.socket.close(1000);
    await stopped(String(response.id));
  });

  it('waits for a client that does not read instead of filling memory', async () => {
    client.socket.pause();
    speak('chunks:2000');
    // 128 MiB of audio: what is written and not taken stays far below it.
    await new Promise<void>(resolve => {
      let last = -1;
      const look = setInterval(() => {
        if (worker.chunksWritten === last && last > 0) {
          clearInterval(look);
          resolve();
        }
        last = worker.chunksWritten;
      }, 500);
    });
    expect(worker.chunksWritten).toBeLessThan(1000);
    client.socket.resume();
    client.send({ type: 'response.cancel' });
    await client.next('response.done');
  });
});
