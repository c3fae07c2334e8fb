import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { chatLogprobs, completionLogprobs, embeddingBody } from './generation-body.js';

/** The first half of é, é, and the sign that stands for what is no text. */
const BYTES = [Buffer.from([0xc3]), Buffer.from('é'), Buffer.from('\ufffd')];
const drawn = BYTES.map((bytes, offset) => ({
  bytes,
  logprob: -1,
  top: [{ bytes, logprob: -1 }],
  offset,
}));

describe('tokens that are no text by themselves', () => {
  it('are named after their bytes in a chat, so that no two have one name', () => {
    const { content } = chatLogprobs(drawn) as {
      content: { token: string; bytes: number[] }[];
    };
    expect(content.map(({ token }) => token)).toEqual(['\\xc3', 'é', '\ufffd']);
    expect(content.map(({ bytes }) => bytes)).toEqual(BYTES.map(bytes => [...bytes]));
  });

  it('have the older prefix in a completion', () => {
    expect(completionLogprobs(drawn)).toMatchObject({
      tokens: ['bytes:\\xc3', 'é', '\ufffd'],
      top_logprobs: [{ 'bytes:\\xc3': -1 }, { é: -1 }, { '\ufffd': -1 }],
    });
  });
});

async function written(
  numbers: readonly number[],
  changes: Partial<Parameters<typeof embeddingBody>[0]> = {},
) {
  const vectors = Buffer.from(Float32Array.from(numbers).buffer);
  let json = '';
  const body = {
    vectors,
    dimensions: 2,
    encoding: 'float',
    model: 'm',
    promptTokens: 3,
    ...changes,
  } as const;
  for await (const piece of embeddingBody(body)) json += piece;
  return json;
}

describe('embeddingBody', () => {
  it('is OpenAI’s list', async () => {
    expect(JSON.parse(await written([1, 2, 3, 4]))).toEqual({
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: [1, 2] },
        { object: 'embedding', index: 1, embedding: [3, 4] },
      ],
      model: 'm',
      usage: { prompt_tokens: 3, total_tokens: 3 },
    });
  });

  it('packs vectors as base64 of 32-bit floats', async () => {
    const { data } = JSON.parse(await written([1, 2], { encoding: 'base64' })) as {
      data: { embedding: string }[];
    };
    expect(Buffer.from(data[0]!.embedding, 'base64').readFloatLE(4)).toBe(2);
  });

  it('writes 0.1 as 0.1, and of any float as many digits as name it again', async () => {
    expect(await written([0.1, -0.2])).toContain('"embedding":[0.1,-0.2]');
    await fc.assert(
      fc.asyncProperty(fc.float({ noNaN: true, noDefaultInfinity: true }), async number => {
        const { data } = JSON.parse(await written([number, 0])) as {
          data: { embedding: number[] }[];
        };
        expect(Math.fround(data[0]!.embedding[0]!) + 0).toBe(number + 0);
      }),
    );
  });

  it('is a list of none, for none', async () => {
    expect(JSON.parse(await written([], { dimensions: 0 }))).toMatchObject({ data: [] });
  });
});
