import { type SpeechRecognizer } from '@switchyard/engine-api/speech-recognizer.js';
import { type SpeechSynthesizer } from '@switchyard/engine-api/speech-synthesizer.js';
import { type TextEmbedder } from '@switchyard/engine-api/text-embedder.js';
import { createEngine } from '../../../src/worker/engine-factory.js';
import { type TextGenerator } from '../../../src/worker/engines/text-generator.js';
import { describeTextEmbedder } from './embedder-contract.js';
import { encoded, modelSpec } from './engine-items.js';
import { describeTextGenerator } from './generator-contract.js';
import { describeSpeechRecognizer } from './recognizer-contract.js';
import { describeSpeechSynthesizer } from './synthesizer-contract.js';

const faults = [
  { marker: 'FAIL', action: 'fail' },
  { marker: 'ENDLESS', action: 'slow', ms: 3_600_000 },
];

describeSpeechRecognizer('synthetic', () =>
  Promise.resolve({
    // 10,000 steps: an hour of work lets go within 0.4 s.
    engine: createEngine(
      modelSpec('synthetic', 'stt', { streams: 2, steps: 10_000, faults }),
    ) as SpeechRecognizer,
    first: encoded('one', 3),
    second: encoded('two', 1),
    empty: encoded('', 0),
    endless: encoded('ENDLESS'),
    failing: [encoded('FAIL')],
    utterances: [
      Int16Array.from({ length: 8000 }, (_, i) => i),
      Int16Array.from({ length: 4000 }, (_, i) => -i),
    ],
  }),
);

describeSpeechSynthesizer('synthetic', () => ({
  engine: createEngine(modelSpec('synthetic', 'tts', { baseMs: 2, steps: 4 })) as SpeechSynthesizer,
  voice: 'synthetic',
}));

describeTextGenerator('synthetic', () => {
  const stalls = { marker: 'ENDLESS', action: 'slow', ms: 3_600_000, afterTokens: 1 };
  const options = {
    maxConcurrent: 4,
    faults: [{ marker: 'FAIL', action: 'fail', afterTokens: 2 }, stalls],
  };
  const engine = createEngine(modelSpec('synthetic', 'llm', options)) as TextGenerator;
  return { engine, endless: 'ENDLESS', failing: 'FAIL' };
});

describeTextEmbedder('synthetic', () => {
  const engine = createEngine(modelSpec('synthetic', 'embedding', { faults })) as TextEmbedder;
  return { engine, failing: 'FAIL' };
});
