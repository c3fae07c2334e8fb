import { beforeAll, describe, expect, it } from '@jest/globals';
import { Ollama } from 'ollama';
import { embeddedProduct } from './products.js';

describe("Ollama's API, by its client", () => {
  let client: Ollama;
  beforeAll(async () => {
    client = new Ollama({ host: (await embeddedProduct()).url });
  });

  it('chats, whole and by lines, and generates', async () => {
    const messages = [{ role: 'user', content: 'one two three' }];
    const { message, done } = await client.chat({ model: 'llm', messages });
    expect([done, message.content]).toEqual([true, expect.stringContaining('two')]);
    let text = '';
    for await (const part of await client.chat({ model: 'llm', messages, stream: true }))
      text += part.message.content;
    expect(text).toBe(message.content);
    const { response } = await client.generate({ model: 'llm', prompt: 'one two three' });
    expect(response).toContain('two');
  });

  it('embeds, and lists the models', async () => {
    const { embeddings } = await client.embed({ model: 'vectors', input: ['a switch', 'a yard'] });
    expect(embeddings.map(({ length }) => length)).toEqual([4, 4]);
    const { models } = await client.list();
    expect(models.map(({ name }) => name)).toEqual(expect.arrayContaining(['llm', 'vectors']));
  });
});
