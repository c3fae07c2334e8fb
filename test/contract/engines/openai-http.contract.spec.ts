import { afterAll, beforeAll } from '@jest/globals';
import { type SpeechRecognizer } from '@switchyard/engine-api/speech-recognizer.js';
import { type SpeechSynthesizer } from '@switchyard/engine-api/speech-synthesizer.js';
import { type TextEmbedder } from '@switchyard/engine-api/text-embedder.js';
import { createEngine } from '../../../src/worker/engine-factory.js';
import { type TextGenerator } from '../../../src/worker/engines/text-generator.js';
import { OpenAiUpstream } from '../../support/openai-upstream.js';
import { describeTextEmbedder } from './embedder-contract.js';
import { encoded, modelSpec } from './engine-items.js';
import { describeTextGenerator } from './generator-contract.js';
import { describeSpeechRecognizer } from './recognizer-contract.js';
import { describeSpeechSynthesizer } from './synthesizer-contract.js';

let upstream: OpenAiUpstream;

beforeAll(async () => {
  upstream = await OpenAiUpstream.start({ models: ['whisper', 'voice', 'text'] });
});
afterAll(() => upstream[Symbol.asyncDispose]());

describeSpeechRecognizer(
  'openai-http',
  () =>
    Promise.resolve({
      engine: createEngine(
        modelSpec('openai-http', 'stt', {
          baseUrl: upstream.baseUrl,
          model: 'whisper',
          maxBatch: 2,
        }),
      ) as SpeechRecognizer,
      first: encoded('one', 3),
      second: encoded('two', 1),
      empty: encoded('', 0),
      endless: encoded('ENDLESS'),
      failing: [encoded('FAIL')],
    }),
  { streams: false },
);

describeSpeechSynthesizer('openai-http', () => {
  const options = { baseUrl: upstream.baseUrl, model: 'voice' };
  const spec = { ...modelSpec('openai-http', 'tts', options), voices: { alloy: 'af_heart' } };
  return { engine: createEngine(spec) as SpeechSynthesizer, voice: 'af_heart' };
});

describeTextGenerator('openai-http', () => {
  const options = { baseUrl: upstream.baseUrl, model: 'text' };
  const engine = createEngine(modelSpec('openai-http', 'llm', options)) as TextGenerator;
  return { engine, endless: 'ENDLESS', failing: 'FAIL' };
});

describeTextEmbedder('openai-http', () => {
  const options = { baseUrl: upstream.baseUrl, model: 'text', maxBatch: 4 };
  return {
    engine: createEngine(modelSpec('openai-http', 'embedding', options)) as TextEmbedder,
    failing: 'FAIL',
  };
});
