import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { WrittenForm } from '../../../src/gateway/written-form/written-form.js';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { type GatewayRig } from '../api/gateway-rig.js';
import { heardIn, realtimeRig } from './realtime-rig.js';

let rig: GatewayRig;
let client: RealtimeClient;
beforeEach(async () => {
  const capabilities = ['transcribe', 'stream', 'prompt'];
  rig = await realtimeRig({ model: { capabilities, itn: true, languages: ['en'] } });
  client = await RealtimeClient.synthetic(rig.url);
});
afterEach(async () => {
  client.socket.close(1000);
  await rig.close();
});

describe('a model that can', () => {
  it('hears with the prompt of the session, and with a new one after an update', async () => {
    for (const prompt of ['names: Ada', 'names: Grace']) {
      client.update({ transcription: { prompt } });
      expect((await client.next('session.updated')).session.audio.input.transcription.prompt).toBe(
        prompt,
      );
      client.say('hello ');
      client.commit();
      expect((await client.next(`${TRANSCRIPTION}.completed`)).transcript).toBe(
        heardIn('hello ', prompt),
      );
    }
  });

  it('has its finals written as those of files, while deltas stay as they were said', async () => {
    const ahead = jest.spyOn(rig.app.get(WrittenForm, { strict: false }), 'ahead');
    ahead.mockReturnValue(spoken => spoken.toUpperCase());
    for (const frame of ['one ', 'two ', 'three ']) client.say(frame);
    client.commit();
    const completed = await client.next(`${TRANSCRIPTION}.completed`);
    const spoken = heardIn('one two three ');
    expect(completed.transcript).toBe(spoken.toUpperCase());
    const of = (type: string, field: string) =>
      client.events.filter(event => event.type === type).map(event => String(event[field]));
    expect(of(`${TRANSCRIPTION}.segment`, 'text')).toEqual([spoken.toUpperCase()]);
    const said = of(`${TRANSCRIPTION}.delta`, 'delta').join('');
    expect(said).not.toBe('');
    expect(said).not.toContain('TRANSCRIPT');
    expect(ahead).toHaveBeenCalledWith({
      wanted: true,
      demanded: false,
      languages: ['en'],
    });
  });
});

describe('`languages` of a model that knows English only', () => {
  it.each([[['en']], [['de', 'en-GB']]])('%j: hears with the one it knows', async languages => {
    client.update({ transcription: { languages } });
    const { session } = await client.next('session.updated');
    expect(session.audio.input.transcription.language).toBe(languages.at(-1));
  });

  it('["de", "fr"] is refused: it would hear English', async () => {
    client.update({ transcription: { languages: ['de', 'fr'] } });
    expect((await client.next('error')).error).toMatchObject({
      code: 'invalid_value',
      param: 'session.audio.input.transcription.languages',
    });
  });
});

it('compat.strict refuses what only advises', async () => {
  const strict = await realtimeRig({ settings: { 'compat.strict': true } });
  const other = await RealtimeClient.synthetic(strict.url);
  for (const [input, param] of [
    [{ noise_reduction: { type: 'near_field' } }, 'noise_reduction'],
    [{ transcription: { prompt: 'names' } }, 'transcription.prompt'],
  ] as const) {
    other.update(input);
    const { error } = await other.next('error');
    expect(error).toMatchObject({
      code: 'unsupported_parameter',
      param: `session.audio.input.${param}`,
    });
  }
  other.socket.close(1000);
  await strict.close();
});
