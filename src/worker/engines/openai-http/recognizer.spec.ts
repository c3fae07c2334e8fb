import { describe, expect, it } from '@jest/globals';
import { type TranscribeItem } from '@switchyard/engine-api/speech-recognizer.js';
import { fieldsOf, multipartBody } from './recognizer.js';

const item = (changes: Partial<TranscribeItem> = {}): TranscribeItem => ({
  requestId: 'r',
  task: 'transcribe',
  language: '',
  prompt: '',
  temperature: 0,
  wordTimestamps: false,
  audio: { kind: 'encoded', bytes: Buffer.from('a'), filename: 'a.wav', durationS: 0 },
  signal: new AbortController().signal,
  ...changes,
});
const asked = (changes: Partial<TranscribeItem>) => fieldsOf(item(changes), 'm', 'verbose_json');

describe('what an upstream is asked', () => {
  it('is the model and the format when all is at its default', () => {
    expect(asked({})).toEqual([
      ['model', 'm'],
      ['response_format', 'verbose_json'],
    ]);
  });

  it('for log probabilities is json, which alone has them', () => {
    expect(asked({ logprobs: true })).toEqual([
      ['model', 'm'],
      ['response_format', 'json'],
      ['include[]', 'logprobs'],
    ]);
  });

  it('for speakers is diarized_json with a strategy and the voices as WAV', () => {
    const fields = asked({
      diarize: true,
      knownSpeakers: [{ name: 'Ada', samples: new Int16Array(4) }],
    });
    expect(fields.slice(1, 4)).toEqual([
      ['response_format', 'diarized_json'],
      ['chunking_strategy', 'auto'],
      ['known_speaker_names[]', 'Ada'],
    ]);
    const [, url = ''] = fields[4]!;
    const wav = Buffer.from(url.replace('data:audio/wav;base64,', ''), 'base64');
    expect([wav.length, wav.toString('latin1', 0, 4)]).toEqual([44 + 8, 'RIFF']);
  });

  it('has hot words as keywords, and a chunking strategy in brackets', () => {
    const chunking = { threshold: 0.25, prefixPaddingMs: 300, silenceDurationMs: 700 };
    expect(asked({ hotWords: ['Switchyard', 'aging'], chunking }).slice(2)).toEqual([
      ['keywords[]', 'Switchyard'],
      ['keywords[]', 'aging'],
      ['chunking_strategy[type]', 'server_vad'],
      ['chunking_strategy[threshold]', '0.25'],
      ['chunking_strategy[prefix_padding_ms]', '300'],
      ['chunking_strategy[silence_duration_ms]', '700'],
    ]);
  });
});

const read = ({ contentType, parts }: ReturnType<typeof multipartBody>) =>
  new Response(Buffer.concat(parts), { headers: { 'content-type': contentType } }).formData();

describe('multipartBody', () => {
  it('is read back by a parser: fields in order, repeated names, the bytes of the file', async () => {
    const file = Buffer.from([0, 13, 10, 45, 45, 255]);
    const fields = [
      ['model', 'whisper'],
      ['a[]', 'one\r\ntwo'],
      ['a[]', 'zwei'],
    ] as const;
    const form = await read(multipartBody(file, 'клип.wav', fields));
    expect([form.get('model'), ...form.getAll('a[]')]).toEqual(['whisper', 'one\r\ntwo', 'zwei']);
    const upload = form.get('file') as File;
    expect([upload.name, ...new Uint8Array(await upload.arrayBuffer())]).toEqual([
      'клип.wav',
      ...file,
    ]);
  });

  it('refers to the file instead of copying it', () => {
    const file = new Uint8Array(10);
    expect(multipartBody(file, 'a', []).parts).toContain(file);
  });

  it('lets no file name end its line or its quotes', () => {
    const { parts } = multipartBody(Buffer.of(), 'a"\r\nX-Evil: 1\r\n\r\n', []);
    const text = Buffer.concat(parts).toString();
    expect(text).toContain('filename="a%22%0D%0AX-Evil: 1%0D%0A%0D%0A"\r\n');
    expect(text).not.toContain('\nX-Evil');
  });

  it('names a file without a name, as servers tell a file from a field by that', async () => {
    const form = await read(multipartBody(Buffer.from('x'), '', []));
    expect(form.get('file')).toBeInstanceOf(File);
  });
});
