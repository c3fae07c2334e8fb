import { describe, expect, it } from '@jest/globals';
import { parseSpeech } from '../../../src/gateway/audio/start-speech.js';
import { parseMessage } from '../../../src/gateway/messages/parse-message.js';
import { ModelCatalog } from '../../../src/gateway/models/model-catalog.js';
import { ModelList } from '../../../src/platform/config/config.module.js';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { syntheticModel } from '../../support/synthetic-model.js';

const model = (
  id: string,
  kind: ModelSpec['kind'],
  engine: ModelSpec['engine'] = 'synthetic',
): ModelSpec => syntheticModel({}, { id, kind, engine, capabilities: ['chat', 'tools'] });
const REFUSED = expect.objectContaining({ code: 'unsupported_parameter' });

const LLM = new ModelCatalog(new ModelList([model('m', 'llm')]));

it('marks of a cache in blocks, tools and instructions of Messages are reported by their paths', () => {
  const cache_control = { type: 'ephemeral' };
  const text = { type: 'text', text: 'hi', cache_control };
  const asked = {
    ...{ model: 'm', max_tokens: 9, system: [text] },
    tools: [{ name: 'look', input_schema: { type: 'object' }, cache_control }],
    messages: [
      { role: 'user', content: [text] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'look', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: [text] }] },
    ],
  };
  expect(parseMessage(asked, LLM, { strict: false }).ignored).toEqual(
    expect.arrayContaining([
      'system[0].cache_control',
      'tools[0].cache_control',
      'messages[0].content[0].cache_control',
      'messages[2].content[0].content[0].cache_control',
    ]),
  );
  expect(() => parseMessage(asked, LLM, { strict: true })).toThrow(REFUSED);
});

describe('SSML as speech', () => {
  const speak = (engine: ModelSpec['engine'], strict = false) => {
    const models = new ModelCatalog(new ModelList([model('t', 'tts', engine)]));
    const asked = { model: 't', voice: 'v', input: '<speak>Hi <b>all</b></speak>' };
    return parseSpeech(asked, models, { strict });
  };

  it('is its text, reported as ignored and refused if strict', () => {
    expect(speak('synthetic')).toMatchObject({ dto: { input: 'Hi all' }, ignored: ['input.ssml'] });
    expect(() => speak('synthetic', true)).toThrow(REFUSED);
  });

  it('reaches another server unchanged', () => {
    expect(speak('openai-http', true).dto.input).toBe('<speak>Hi <b>all</b></speak>');
  });
});
