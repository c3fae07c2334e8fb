import { describe, expect, it } from '@jest/globals';
import { type ClientEvent, openEnvelope, readClientEvent } from './realtime-event.js';

const read = (event: unknown): ClientEvent =>
  readClientEvent(openEnvelope(typeof event === 'string' ? event : JSON.stringify(event)));
const said = (text: string, more: object = {}) => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
  ...more,
});
const respond = (response: object) => ({ type: 'response.create', response });
const create = (item: object) => ({ type: 'conversation.item.create', item });

describe('events of a client', () => {
  it.each<[unknown, ClientEvent]>([
    [
      { type: 'session.update', session: { type: 'realtime' } },
      { type: 'session.update', session: { type: 'realtime' } },
    ],
    [
      { type: 'input_audio_buffer.append', audio: 'AQID' },
      { type: 'input_audio_buffer.append', audio: Buffer.from([1, 2, 3]) },
    ],
    [
      { type: 'input_audio_buffer.append', audio: '' },
      { type: 'input_audio_buffer.append', audio: Buffer.alloc(0) },
    ],
    [{ type: 'input_audio_buffer.commit' }, { type: 'input_audio_buffer.commit' }],
    [{ type: 'input_audio_buffer.clear', event_id: 'x' }, { type: 'input_audio_buffer.clear' }],
    [
      create(said('hi', { id: 'mine' })),
      { type: 'conversation.item.create', id: 'mine', text: 'hi' },
    ],
    [{ type: 'response.create' }, { type: 'response.create', speech: { metadata: null } }],
    [
      respond({
        input: [said('one'), said('two')],
        voice: 'nova',
        metadata: { a: 'b' },
        tools: [],
      }),
      {
        type: 'response.create',
        speech: { text: 'one\ntwo', voice: 'nova', metadata: { a: 'b' } },
      },
    ],
    [
      respond({
        audio: { output: { voice: { id: 'slt' }, format: { type: 'audio/pcm', rate: 24_000 } } },
      }),
      { type: 'response.create', speech: { voice: 'slt', metadata: null } },
    ],
    [
      { type: 'response.cancel', response_id: 'resp_1' },
      { type: 'response.cancel', responseId: 'resp_1' },
    ],
    [{ type: 'response.cancel' }, { type: 'response.cancel', responseId: undefined }],
  ])('%j', (event, expected) => {
    expect(read(event)).toEqual(expected);
  });

  it.each<[unknown, string, string | undefined]>([
    ['{', 'invalid_json', undefined],
    ['null', 'invalid_value', ''],
    ['"text"', 'invalid_value', ''],
    [{}, 'missing_required_parameter', 'type'],
    [{ type: 7 }, 'missing_required_parameter', 'type'],
    [{ type: 'conversation.item.truncate' }, 'invalid_value', 'type'],
    [{ type: 'session.update' }, 'missing_required_parameter', 'session'],
    [{ type: 'input_audio_buffer.commit', now: true }, 'unknown_parameter', 'now'],
    [{ type: 'input_audio_buffer.commit', ['__proto__x']: 1 }, 'unknown_parameter', '__proto__x'],
    [{ type: 'input_audio_buffer.append' }, 'missing_required_parameter', 'audio'],
    [{ type: 'input_audio_buffer.append', audio: 'AQI' }, 'invalid_value', 'audio'],
    [{ type: 'input_audio_buffer.append', audio: 'A_-=' }, 'invalid_value', 'audio'],
    [create({}), 'missing_required_parameter', 'item.content'],
    [create(said('x'.repeat(4097))), 'invalid_value', 'item.content[0].text'],
    [create({ content: [{ type: 'input_audio' }] }), 'invalid_value', 'item.content[0].type'],
    [create(said('x', { role: 'robot' })), 'invalid_value', 'item.role'],
    [
      { ...create(said('x')), previous_item_id: 'item_1' },
      'unsupported_parameter',
      'previous_item_id',
    ],
    [respond({ instructions: 'sing' }), 'unsupported_parameter', 'response.instructions'],
    [
      respond({ output_modalities: ['text'] }),
      'unsupported_parameter',
      'response.output_modalities',
    ],
    [
      respond({ input: [said('x'.repeat(3000)), said('x'.repeat(3000))] }),
      'invalid_value',
      'response.input',
    ],
    [
      respond({ audio: { output: { format: { type: 'audio/pcmu' } } } }),
      'unsupported_parameter',
      'response.audio.output.format.type',
    ],
    [respond({ temperature: 1 }), 'unsupported_parameter', 'response.temperature'],
    [respond({ colour: 1 }), 'unknown_parameter', 'response.colour'],
  ])('%j is refused: %s at %s', (event, code, param) => {
    expect(() => read(event)).toThrow(
      expect.objectContaining({ code, ...(param !== undefined && { param }) }),
    );
  });

  it('are named by their own id in what is said about them, unless it is no short text', () => {
    expect(openEnvelope('{"event_id":"mine"}').eventId).toBe('mine');
    expect(openEnvelope('{"event_id":7}').eventId).toBeUndefined();
    expect(openEnvelope(JSON.stringify({ event_id: 'x'.repeat(513) })).eventId).toBeUndefined();
  });
});
