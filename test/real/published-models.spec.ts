import { afterAll, beforeAll, expect, it } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { openaiAt } from '../support/openai-at.js';
import { pcmWav } from '../support/pcm-wav.js';
import { Product } from '../support/product.js';
import { fetchRealModels, wavSamples } from '../support/real-models.js';
import { RealtimeClient, TRANSCRIPTION } from '../support/realtime-client.js';
import { describeWith } from '../support/requires.js';
import { pause } from '../support/waiting.js';
import { wordErrors } from '../support/word-errors.js';

const { real, ...published } = await fetchRealModels();

const CITIES =
  'It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, ' +
  'it was the epoch of belief, it was the epoch of incredulity, it was the season of Light, it was the season of ' +
  'Darkness, it was the spring of hope, it was the winter of despair, we had everything before us, we had nothing ' +
  'before us, we were all going direct to Heaven, we were all going direct the other way in short, the period was so ' +
  'far like the present period, that some of its noisiest authorities insisted on its being received, for good or ' +
  'for evil, in the superlative degree of comparison only.';
const BECKETT = 'Ever tried, ever failed, no matter. Try again. Fail again. Fail better.';
/** Whisper writes numbers in digits. */
const IN_DIGITS = [
  'Uno dos tres cuatro cinco seis siete ocho nueve diez',
  '1 2 3 4 5 6 7 8 9 10',
] as const;
const RATE = 16_000;

const lengthOf = (text: string) => text.split(' ').length;
/** Letters alone, so that languages without spaces count too. */
const letters = (text: string) =>
  [...text.normalize('NFKC').toLowerCase()].filter(one => /[\p{L}\p{M}\p{N}]/u.test(one));
const letterErrors = (said: string, heard: string) =>
  // Each letter as a word of its own, in an alphabet that the counter knows.
  wordErrors(
    ...([said, heard].map(text =>
      letters(text)
        .map(one => [...`${one.codePointAt(0)}`].map(digit => 'abcdefghij'[+digit]).join(''))
        .join(' '),
    ) as [string, string]),
  ) / letters(said).length;

describeWith(published)('published models and human speech', () => {
  let product: Product;
  let openai: OpenAI;
  beforeAll(async () => {
    // The same kernels on every CPU: those for newer ones round otherwise.
    process.env.MKL_ENABLE_INSTRUCTIONS ??= 'AVX2';
    product = await Product.start(real.models, { 'batch.embedded': 'true' });
    openai = openaiAt(product.url, { timeout: 110_000 });
    await product.until('all four models are ready', async () => {
      const workers = await product.workers();
      return workers.length === 4 && workers.every(({ state }) => state === 'ready');
    });
  });
  afterAll(async () => product[Symbol.asyncDispose]());

  const cities = () => real.speech('moonshine_voice/assets/two_cities.wav');
  const clip = (path: string) => real.speech(`pytest_audioeval/samples/audio/${path}.wav`);
  const textOf = async (path: string) =>
    (await real.speech(`pytest_audioeval/samples/audio/${path}.txt`))
      .toString()
      .replace(...IN_DIGITS);
  const hear = async (audio: Buffer, more: object = {}, signal?: AbortSignal) =>
    openai.audio.transcriptions.create(
      { file: await toFile(audio, 'speech.wav'), model: 'whisper-1', ...more },
      { signal },
    );

  it('Moonshine, which answers first, writes human speech with at most 12 % word errors', async () => {
    const clips = [
      ['pytest_audioeval/samples/audio/en/quick_brown_fox', await textOf('en/quick_brown_fox')],
      ['pytest_audioeval/samples/audio/en/counting', await textOf('en/counting')],
      ['pytest_audioeval/samples/audio/en/hello_world', await textOf('en/hello_world')],
      ['moonshine_voice/assets/beckett', BECKETT],
      ['moonshine_voice/assets/two_cities', CITIES],
    ] as const;
    let wrong = 0;
    for (const [path, said] of clips) {
      const { text } = await hear(await real.speech(`${path}.wav`), { model: 'moonshine-tiny-en' });
      wrong += wordErrors(said, text);
    }
    const words = clips.reduce((sum, [, said]) => sum + lengthOf(said), 0);
    expect(wrong / words).toBeLessThanOrEqual(0.12);
  });

  it.each([
    // Not the pangram: Whisper tries it again at a temperature, and then draws its words.
    ['es', ['es/conteo', 'es/hola_mundo']],
    ['zh', ['zh/nihao_shijie']],
    ['fr', ['fr/pangrama', 'fr/bonjour_monde']],
    ['it', ['it/pangrama', 'it/ciao_mondo']],
    ['pt', ['pt/pangrama', 'pt/ola_mundo']],
    ['ja', ['ja/konnichiwa_sekai']],
  ])('Whisper writes %s with at most 15 % wrong letters', async (language, paths) => {
    const said = (await Promise.all(paths.map(textOf))).join(' ');
    const heard = await Promise.all(
      paths.map(async path => (await hear(await clip(path), { language })).text),
    );
    expect(letterErrors(said, heard.join(' '))).toBeLessThanOrEqual(0.15);
  });

  it('groups of eight have the texts that each clip has alone', async () => {
    const names = ['en/hello_world', 'en/quick_brown_fox', 'fr/bonjour_monde', 'it/ciao_mondo'];
    const clips = await Promise.all([...names, ...names].map(clip));
    const alone: string[] = [];
    for (const audio of clips.slice(0, names.length)) alone.push((await hear(audio)).text);
    const together = await Promise.all(clips.map(async audio => (await hear(audio)).text));
    expect(together).toEqual([...alone, ...alone]);
  });

  it('translates', async () => {
    const { text } = await openai.audio.translations.create({
      file: await toFile(await clip('fr/bonjour_monde'), 'speech.wav'),
      model: 'whisper-1',
    });
    expect(text.toLowerCase()).toMatch(/hello|good (morning|day)/);
  });

  it('keeps the times of words, 0.3 s at most, whatever silence is before them', async () => {
    const audio = await clip('en/quick_brown_fox');
    const timed = async (file: Buffer) =>
      (
        (await hear(file, {
          response_format: 'verbose_json',
          timestamp_granularities: ['word'],
        })) as unknown as { words: { word: string; start: number }[] }
      ).words;
    const words = await timed(audio);
    const { data, rate } = wavSamples(audio);
    const later = await timed(pcmWav(Buffer.concat([Buffer.alloc(rate * 2 * 5), data]), rate));
    const spelled = (all: typeof words) =>
      all.map(({ word }) => word.toLowerCase().replace(/\W/g, ''));
    expect(spelled(later)).toEqual(spelled(words));
    for (const [index, { start }] of words.entries())
      expect(Math.abs(later[index]!.start - 5 - start)).toBeLessThanOrEqual(0.3);
  });

  it.each([
    ['silence', () => 0],
    ['hum', (at: number) => 0.1 * Math.sin(2 * Math.PI * 50 * at)],
    ['noise', (_: number, index: number) => 0.2 * (((index * 7919) % 1009) / 1009 - 0.5)],
  ])('hears nothing in 20 s of %s', async (_, wave) => {
    const samples = Int16Array.from({ length: 20 * RATE }, (_, index) =>
      Math.round(32_767 * wave(index / RATE, index)),
    );
    const audio = pcmWav(Buffer.from(samples.buffer), RATE);
    expect((await hear(audio)).text).toBe('');
    expect((await hear(audio, { model: 'moonshine-tiny-en' })).text).toBe('');
  });

  it('a cancel in the middle frees the device', async () => {
    const stop = new AbortController();
    const long = hear(await cities(), {}, stop.signal);
    await product.untilRunning(1);
    stop.abort();
    await expect(long).rejects.toThrow();
    await product.until('the slot is free', async () =>
      (await product.workers()).every(({ slots }) => slots.free === slots.total),
    );
    const { text } = await hear(await clip('en/hello_world'));
    expect(wordErrors('Hello world', text)).toBe(0);
  });

  it('Whisper writes 45 s of English with at most 5 % word errors, and a kill of its worker in the middle costs none', async () => {
    const long = hear(await cities());
    await product.untilRunning(1);
    await pause(500);
    const worker = (await product.workers()).find(({ model }) => model === 'whisper-base');
    process.kill(worker!.pid!, 'SIGKILL');
    const { text } = await long;
    expect(wordErrors(CITIES, text) / lengthOf(CITIES)).toBeLessThanOrEqual(0.05);
  });

  it('a live session hears with Whisper what the whole file says', async () => {
    const audio = await clip('en/quick_brown_fox');
    const { data, rate } = wavSamples(audio);
    const client = await RealtimeClient.open(product.url, { model: 'whisper-1' });
    client.update({
      format: { type: 'audio/pcm', rate },
      turn_detection: { type: 'server_vad' },
    });
    const spoken = Buffer.concat([data, Buffer.alloc(rate * 2)]);
    for (let at = 0; at < spoken.length; at += rate / 5) {
      client.say(spoken.subarray(at, at + rate / 5));
      await pause(100);
    }
    const { transcript } = await client.next(`${TRANSCRIPTION}.completed`);
    client.socket.close();
    const { text } = await hear(audio);
    expect(wordErrors(text, String(transcript))).toBe(0);
  });

  it('Whisper sends words while they are spoken, and the final text is that of the whole utterance', async () => {
    const { data, rate } = wavSamples(await clip('en/quick_brown_fox'));
    const client = await RealtimeClient.open(product.url, { model: 'whisper-1' });
    client.update({ format: { type: 'audio/pcm', rate }, turn_detection: null });
    const done = async () => {
      const { data: ended } = await product.json<{ data: readonly { request_id: string }[] }>(
        '/admin/v1/requests?state=completed',
      );
      return ended.filter(({ request_id: id }) => /\.\d+\.\d+\.\d+$/.test(id)).length;
    };
    const before = await done();
    const part = Math.floor(data.length / 8) * 2;
    for (let pass = 1; pass <= 3; pass++) {
      client.say(data.subarray((pass - 1) * part, pass * part));
      await product.until(`pass ${pass}`, async () => (await done()) >= before + pass);
    }
    const said = client.events.filter(({ type }) => type === `${TRANSCRIPTION}.delta`);
    expect(said.length).toBeGreaterThan(0);
    client.say(data.subarray(3 * part));
    client.commit();
    const { transcript } = await client.next(`${TRANSCRIPTION}.completed`);
    client.socket.close();
    const { text } = await hear(pcmWav(data, rate));
    expect(transcript).toBe(text);
  });

  const QUESTION = {
    model: 'gpt-4o-mini',
    messages: [{ role: 'user' as const, content: 'What is the capital of France?' }],
    temperature: 0,
    max_tokens: 24,
  };

  it('a streamed chat has the text of a whole one', async () => {
    const whole = await openai.chat.completions.create(QUESTION);
    let streamed = '';
    for await (const { choices } of await openai.chat.completions.create({
      ...QUESTION,
      stream: true,
    }))
      streamed += choices[0]?.delta.content ?? '';
    expect(streamed).toBe(whole.choices[0]?.message.content);
    expect(streamed.split(' ').length).toBeGreaterThan(5);
  });

  it('an answer holds its JSON schema', async () => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' }, people: { type: 'integer', minimum: 1 } },
      required: ['city', 'people'],
      additionalProperties: false,
    };
    const answer = await openai.chat.completions.create({
      ...QUESTION,
      max_tokens: 80,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'city', schema, strict: true },
      },
    });
    const found = JSON.parse(answer.choices[0]!.message.content!) as Record<string, unknown>;
    expect(Object.keys(found)).toEqual(['city', 'people']);
    expect([typeof found.city, Number.isInteger(found.people)]).toEqual(['string', true]);
  });

  it('a tool that must be called is called, with arguments of its schema', async () => {
    const parameters = {
      type: 'object',
      properties: { city: { type: 'string', maxLength: 20 } },
      required: ['city'],
      additionalProperties: false,
    };
    const { choices } = await openai.chat.completions.create({
      ...QUESTION,
      max_tokens: 80,
      messages: [{ role: 'user', content: 'What is the weather in Paris?' }],
      tools: [{ type: 'function', function: { name: 'get_weather', parameters } }],
      tool_choice: 'required',
      parallel_tool_calls: false,
    });
    const [call] = choices[0]!.message.tool_calls ?? [];
    expect(choices[0]!.finish_reason).toBe('tool_calls');
    expect(call).toMatchObject({ type: 'function', function: { name: 'get_weather' } });
    const { arguments: given } = (call as { function: { arguments: string } }).function;
    expect(JSON.parse(given)).toEqual({ city: expect.stringContaining('Paris') });
  });

  it('Whisper writes what the Piper voice says with at most 10 % word errors', async () => {
    const input =
      'Every request has a place in the queue. A worker takes it as soon as it has time, and the answer goes back ' +
      'to the one who asked for it.';
    const speech = await openai.audio.speech.create({
      model: 'tts-1',
      voice: 'alloy',
      input,
      response_format: 'wav',
    });
    const { text } = await hear(Buffer.from(await speech.arrayBuffer()));
    expect(wordErrors(input, text) / lengthOf(input)).toBeLessThanOrEqual(0.1);
  });

  it('a batch of 20 lines ends with an answer for each', async () => {
    const lines = Array.from({ length: 20 }, (_, index) =>
      JSON.stringify({
        custom_id: `line-${index}`,
        method: 'POST',
        url: '/v1/chat/completions',
        body: {
          ...QUESTION,
          max_tokens: 4 + (index % 3) * 4,
          temperature: index % 2,
          messages: [{ role: 'user', content: `Count to ${index}.` }],
        },
      }),
    );
    const file = await openai.files.create({
      file: await toFile(Buffer.from(lines.join('\n')), 'lines.jsonl'),
      purpose: 'batch',
    });
    const { id } = await openai.batches.create({
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    let batch = await openai.batches.retrieve(id);
    await product.until('the batch has ended', async () => {
      batch = await openai.batches.retrieve(id);
      return batch.status === 'completed';
    });
    expect(batch.request_counts).toMatchObject({ total: 20, completed: 20, failed: 0 });
    const output = await (await openai.files.content(batch.output_file_id!)).text();
    const ids = output
      .trim()
      .split('\n')
      .map(line => (JSON.parse(line) as { custom_id: string }).custom_id);
    expect(new Set(ids).size).toBe(20);
  });
});
