import { expect, it } from '@jest/globals';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { admitAs } from '../../platform/auth/access-hooks.js';
import { ANYBODY } from '../../platform/auth/principal.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { type ModelCatalog } from '../models/model-catalog.js';
import { type TextGenerationService } from '../text/text-generation.service.js';
import { NativeResponses } from './native-responses.js';
import { type Conversations } from './stored/conversations.js';

/** Whether a request goes to the server behind its model. Nothing may be asked of it before. */
function serves(fields: Readonly<Record<string, unknown>>, stores = true): Promise<boolean> {
  const usable = {
    answering: (name: unknown) => (name === 'native' ? { id: 'native' } : undefined),
  };
  const request = {} as FastifyRequest;
  admitAs(request, ANYBODY);
  const native = new NativeResponses(
    { usableBy: () => usable } as unknown as ModelCatalog,
    {} as TextGenerationService,
    {} as Conversations,
    settingsFrom({ 'responses.store': stores }),
  );
  return native.serve({ fields, bytes: Buffer.from('{}') }, { request } as FastifyReply);
}

it.each([
  ['a model whose server has no such route', { model: 'local', input: 'x' }, true],
  ['a response in the background', { model: 'native', input: 'x', background: true }, true],
  ['one that is not to be generated', { model: 'native', input: 'x', generate: false }, true],
  ['one to be stored where none is', { model: 'native', input: 'x', store: true }, false],
  [
    'one that continues another where none is stored',
    { model: 'native', input: 'x', store: false, previous_response_id: 'resp_1' },
    false,
  ],
])('%s is not left to the server behind the model', async (_, fields, stores) => {
  expect(await serves(fields, stores)).toBe(false);
});
