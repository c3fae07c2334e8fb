import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { type ServerEvent } from '../../../contracts/realtime/realtime-event.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type SessionOutbox } from './session-outbox.js';
import { type SessionServices } from './session-services.js';
import { SpokenResponse } from './spoken-response.js';
import { type TranscriptItems } from './transcript-items.js';

/** A response whose audio the test writes. */
function spoken(room = Promise.resolve()) {
  const sent: ServerEvent[] = [];
  const cancelled: string[] = [];
  const audio = new PassThrough();
  const settled = Promise.withResolvers<{ settlement: object }>();
  const response = new SpokenResponse(
    { id: 'resp_1', text: 'hello', voice: 'v', speed: 1, metadata: { a: '1' } },
    {
      audio,
      request: { settled: settled.promise, cancel: (by: string) => cancelled.push(by) },
    } as unknown as ReturnType<SessionServices['speak']>,
    {
      send: (event: ServerEvent) => sent.push(event),
      room: () => room,
    } as unknown as SessionOutbox,
    { follow: () => 'item_before' } as unknown as TranscriptItems,
  );
  const types = () => sent.splice(0).map(({ type }) => type.replace('response.', ''));
  return { response, audio, settled, sent, cancelled, types };
}
const BEGIN = [
  'created',
  'output_item.added',
  'conversation.item.added',
  'content_part.added',
  'output_audio_transcript.delta',
];
const END = [
  'output_audio.done',
  'output_audio_transcript.done',
  'content_part.done',
  'output_item.done',
  'conversation.item.done',
  'done',
];

describe('a spoken response', () => {
  it('is sent as its item, its text, whole samples of its audio, and its end', async () => {
    const { response, audio, settled, sent } = spoken();
    for (const bytes of [[1, 2, 3], [4], [5]]) {
      audio.write(Buffer.from(bytes));
      await new Promise(setImmediate);
    }
    audio.end();
    settled.resolve({ settlement: { status: 'completed' } });
    await response.ended;
    const deltas = [Buffer.of(1, 2), Buffer.of(3, 4)].map(pcm => pcm.toString('base64'));
    expect(sent.map(({ type, delta }) => [type.replace('response.', ''), delta])).toEqual([
      ...BEGIN.map((type, at) => [type, at === 4 ? 'hello' : undefined]),
      ...deltas.map(delta => ['output_audio.delta', delta]),
      ...END.map(type => [type, undefined]),
    ]);
    const itemId = (sent[1]!.item as { id: string }).id;
    expect(sent[1]).toMatchObject({
      response_id: 'resp_1',
      output_index: 0,
      item: { status: 'in_progress', content: [] },
    });
    expect(sent[2]).toMatchObject({ previous_item_id: 'item_before', item: { id: itemId } });
    expect(sent[3]).toMatchObject({
      response_id: 'resp_1',
      output_index: 0,
      item_id: itemId,
      content_index: 0,
      part: { type: 'audio', transcript: '' },
    });
    const item = {
      id: itemId,
      status: 'completed',
      content: [{ type: 'output_audio', transcript: 'hello' }],
    };
    expect(sent.at(-2)).toMatchObject({ previous_item_id: 'item_before', item });
    expect(sent.at(-1)).toMatchObject({
      response: { id: 'resp_1', status: 'completed', status_details: null, output: [item] },
    });
  });

  it('that is cancelled sends no more audio, and ends once', async () => {
    const room = Promise.withResolvers<void>();
    const { response, audio, settled, sent, cancelled, types } = spoken(room.promise);
    audio.write(Buffer.alloc(2));
    await new Promise(setImmediate);
    response.cancel('turn_detected');
    response.cancel('client_cancelled');
    await response.ended;
    expect(cancelled).toEqual(['client']);
    expect(sent.at(-1)!.response).toMatchObject({
      status: 'cancelled',
      status_details: { type: 'cancelled', reason: 'turn_detected' },
      output: [{ status: 'incomplete' }],
    });
    expect(types()).toEqual([...BEGIN, ...END]);
    room.resolve();
    settled.resolve({ settlement: { status: 'completed' } });
    await new Promise(setImmediate);
    expect(types()).toEqual([]);
    // Nothing reads it, and its error ends no process.
    expect(() => audio.emit('error', new Error('destroyed'))).not.toThrow();
  });

  it.each([
    ['fails', new DomainError('voice_not_found', 'no voice'), 'voice_not_found', 'no voice'],
    ['is broken off', undefined, 'engine_failed', 'The speech synthesis stopped before its end.'],
  ])('fails when its synthesis %s', async (_, error, code, message) => {
    const { response, audio, settled, sent } = spoken();
    if (error) audio.end();
    else audio.destroy(new Error('broken'));
    settled.resolve({ settlement: { status: 'failed', error } });
    await response.ended;
    expect(sent.at(-1)!.response).toMatchObject({
      status: 'failed',
      status_details: { type: 'failed', error: { code, message } },
      output: [{ status: 'incomplete' }],
    });
  });
});
