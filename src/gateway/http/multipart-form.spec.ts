import multipart from '@fastify/multipart';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import Fastify from 'fastify';
import { DomainError } from '../../core/errors/domain-error.js';
import { FormFields, formParts, LONGEST_TEXT, MULTIPART_OPTIONS } from './multipart-form.js';

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

describe('values of the fields of a form', () => {
  const add = (length: number) => {
    const form = new FormFields();
    const value = 'a'.repeat(length);
    form.add({ fieldname: 'prompt', value, valueTruncated: false });
    return form.values.prompt;
  };

  it('are taken up to the longest text, and refused beyond it', () => {
    expect(add(LONGEST_TEXT)).toHaveLength(LONGEST_TEXT);
    expect(() => add(LONGEST_TEXT + 1)).toThrow('`prompt` is too long');
  });
});
