import { type TextEmbedder } from '@switchyard/engine-api/text-embedder.js';
import { createEngine } from '../../../src/worker/engine-factory.js';
import { type TextGenerator } from '../../../src/worker/engines/text-generator.js';
import { ENGINE_DEVICE } from '../../support/engine-device.js';
import { llamaModel } from '../../support/llama-model.js';
import { describeTextEmbedder } from './embedder-contract.js';
import { modelSpec } from './engine-items.js';
import { describeTextGenerator } from './generator-contract.js';

/** More than the context below holds. */
const TOO_LONG = 'x'.repeat(2000);

describeTextGenerator('llama-cpp', async () => {
  const modelFile = await llamaModel();
  const options = {
    modelFile,
    device: ENGINE_DEVICE,
    threads: 1,
    rows: 4,
    contextTokens: 512,
  };
  const engine = createEngine(modelSpec('llama-cpp', 'llm', options)) as TextGenerator;
  return { engine, says: /./, endless: 'and so on', failing: TOO_LONG };
});

describeTextEmbedder('llama-cpp', async () => {
  const modelFile = await llamaModel({ pooling: 'mean', chatTemplate: '' });
  const options = { modelFile, device: ENGINE_DEVICE, threads: 1, batchTokens: 512 };
  const engine = createEngine(modelSpec('llama-cpp', 'embedding', options)) as TextEmbedder;
  return { engine, failing: TOO_LONG, rounding: 1e-3 };
});
