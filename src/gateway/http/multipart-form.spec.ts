import multipart from '@fastify/multipart';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import Fastify from 'fastify';
import { DomainError } from '../../core/errors/domain-error.js';
import {
  demandForm,
  FormFields,
  formParts,
  type FormSource,
  LONGEST_FORM,
  LONGEST_TEXT,
  MULTIPART_OPTIONS,
} from './multipart-form.js';

describe('names of the parts of a form', () => {
  const fastify = Fastify();
  beforeAll(async () => {
    await fastify.register(multipart, MULTIPART_OPTIONS);
    fastify.post('/', async request => {
      try {
        const parts = await Array.fromAsync(formParts(request, LONGEST_TEXT));
        return parts.map(({ fieldname }) => fieldname.length);
      } catch (error) {
        return [(error as DomainError).message];
      }
    });
  });
  afterAll(() => fastify.close());

  async function heard(name: string): Promise<unknown> {
    const body = new FormData();
    body.set(name, 'value');
    const { headers, body: bytes } = new Response(body);
    const payload = Buffer.concat(await Array.fromAsync(bytes!));
    const type = { 'content-type': headers.get('content-type')! };
    return JSON.parse(
      (await fastify.inject({ method: 'POST', url: '/', headers: type, payload })).body,
    );
  }

  it('may have 128 characters, and no more', async () => {
    expect(await heard('n'.repeat(128))).toEqual([128]);
    expect(String(await heard('n'.repeat(129)))).toMatch(/at most 128 characters; got 129/);
  });
});

describe('a form before it is read', () => {
  const demand = (length?: number) => {
    const headers = length === undefined ? {} : { 'content-length': String(length) };
    const source = { headers, isMultipart: () => true } as unknown as FormSource;
    return () => demandForm(source, 100, 20, 'a file');
  };

  it('may have the bytes of its file and of the rest, and no more', () => {
    for (const length of [undefined, 120]) expect(demand(length)).not.toThrow();
    expect(demand(121)).toThrow(expect.objectContaining({ code: 'file_too_large' }));
  });
});

describe('values of the fields of a form', () => {
  const longestVoice = (LONGEST_FORM - LONGEST_TEXT) / 4;
  const add = (name: string, ...lengths: number[]) => {
    const form = new FormFields();
    for (const length of lengths)
      form.add({ fieldname: name, value: 'a'.repeat(length), valueTruncated: false });
    return [form.values[name]].flat().map(value => (value as string).length);
  };
  const voices = (last: number) => [...Array<number>(4).fill(longestVoice), last];

  it.each([
    ['a text', 'prompt', [LONGEST_TEXT]],
    ['a voice', 'known_speaker_references', [longestVoice]],
    ['a form', 'known_speaker_references', voices(LONGEST_TEXT)],
  ])('are accepted up to the longest that %s may be, and refused beyond it', (_, name, lengths) => {
    expect(add(name, ...lengths)).toEqual(lengths);
    const beyond = lengths.with(-1, lengths.at(-1)! + 1);
    expect(() => add(name, ...beyond)).toThrow(`\`${name}\` is too long`);
  });
});
