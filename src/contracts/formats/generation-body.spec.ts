import { describe, expect, it } from '@jest/globals';
import { chatLogprobs, completionLogprobs } from './generation-body.js';

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
