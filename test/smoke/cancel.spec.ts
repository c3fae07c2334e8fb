import { beforeAll, describe, expect, it } from '@jest/globals';
import { formOf } from '../support/form-of.js';
import { type Product } from '../support/product.js';
import { embeddedProduct, SLOWLY } from './products.js';

const chat = { messages: [{ role: 'user', content: SLOWLY }] };
const json = (fields: object): RequestInit => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(fields),
});
const upload = (): RequestInit => ({ body: formOf({ model: 'synthetic' }, SLOWLY) });

describe('cancel', () => {
  let product: Product;
  beforeAll(async () => {
    product = await embeddedProduct();
  });

  it.each<[string, () => RequestInit]>([
    ['/v1/audio/transcriptions', upload],
    ['/v1/audio/translations', upload],
    ['/v1/audio/speech', () => json({ model: 'voice', input: SLOWLY, voice: 'alloy' })],
    ['/v1/chat/completions', () => json({ model: 'llm', ...chat })],
    ['/v1/completions', () => json({ model: 'llm', prompt: SLOWLY })],
    ['/v1/embeddings', () => json({ model: 'vectors', input: SLOWLY })],
    ['/v1/responses', () => json({ model: 'llm', input: SLOWLY })],
    ['/v1/messages', () => json({ model: 'llm', max_tokens: 8, ...chat })],
    ['/api/chat', () => json({ model: 'llm', ...chat })],
    ['/api/generate', () => json({ model: 'llm', prompt: SLOWLY })],
    ['/api/embed', () => json({ model: 'vectors', input: SLOWLY })],
  ])(
    'of a running request to %s settles its caller with 499, and its slot is free',
    async (path, request) => {
      const id = `cancel${path.replaceAll('/', '-')}`;
      const { headers, ...rest } = request();
      const answer = fetch(product.url + path, {
        ...rest,
        method: 'POST',
        headers: { ...headers, 'x-request-id': id },
      });
      await product.until('it runs', async () => {
        const { state } = await product.json<{ state?: string }>(`/v1/requests/${id}`);
        return state === 'running';
      });
      const cancel = await fetch(`${product.url}/v1/requests/${id}/cancel`, { method: 'POST' });
      expect(await cancel.json()).toEqual({ request_id: id, cancelled: true });
      expect((await answer).status).toBe(499);
      await product.until('its slot is free', async () =>
        (await product.workers()).every(({ slots }) => slots.free === slots.total),
      );
    },
  );
});
