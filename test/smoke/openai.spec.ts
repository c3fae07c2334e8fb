import { beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { openaiAt } from '../support/openai-at.js';
import { embeddedProduct } from './products.js';

const messages = [{ role: 'user' as const, content: 'one two three' }];

describe('the official OpenAI SDK', () => {
  let openai: OpenAI;
  beforeAll(async () => {
    openai = openaiAt((await embeddedProduct()).url);
  });

  it('chats, whole and streamed, with the same words and usage', async () => {
    const asked = { model: 'llm', messages, max_tokens: 8 };
    const { choices, usage } = await openai.chat.completions.create(asked);
    expect(choices[0]).toMatchObject({
      finish_reason: 'length',
      message: { content: expect.stringContaining('two') },
    });
    const stream = openai.chat.completions.stream({
      ...asked,
      stream_options: { include_usage: true },
    });
    const streamed = await stream.finalChatCompletion();
    expect(streamed.choices[0]!.message.content).toBe(choices[0]!.message.content);
    expect(streamed.usage).toEqual(usage);
  });

  it('completes a prompt', async () => {
    const asked = { model: 'llm', prompt: 'on track', max_tokens: 4 };
    const { choices } = await openai.completions.create(asked);
    expect(choices[0]).toMatchObject({
      finish_reason: 'length',
      text: expect.stringMatching(/^on/),
    });
  });

  it('embeds two texts', async () => {
    const input = ['a switch', 'a yard'];
    const { data } = await openai.embeddings.create({ model: 'vectors', input });
    expect(data.map(({ embedding }) => embedding.length)).toEqual([4, 4]);
    expect(data[0]!.embedding).not.toEqual(data[1]!.embedding);
  });

  it('transcribes a file, whole and as events', async () => {
    const file = await toFile(Buffer.from('spoken words'), 'a.wav');
    const { text } = await openai.audio.transcriptions.create({ file, model: 'whisper-1' });
    expect(text).toContain('synthetic transcript');
    const events = [];
    for await (const event of await openai.audio.transcriptions.create({
      ...{ file, model: 'whisper-1', stream: true as const },
    }))
      events.push(event);
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text });
  });

  it('translates a file', async () => {
    const file = await toFile(Buffer.from('palabras'), 'a.wav');
    const { text } = await openai.audio.translations.create({ file, model: 'whisper-1' });
    expect(text).toContain('synthetic transcript');
  });

  it('speaks WAV', async () => {
    const speech = await openai.audio.speech.create({
      ...{ model: 'tts-1', voice: 'alloy', input: 'Good morning.', response_format: 'wav' },
    });
    const audio = Buffer.from(await speech.arrayBuffer());
    expect(audio.subarray(0, 4).toString()).toBe('RIFF');
    expect(audio.length).toBeGreaterThan(10_000);
  });

  it('lists the models', async () => {
    const ids: string[] = [];
    for await (const model of openai.models.list()) ids.push(model.id);
    expect(ids).toEqual(expect.arrayContaining(['synthetic', 'whisper-1', 'llm', 'vectors']));
  });
});
