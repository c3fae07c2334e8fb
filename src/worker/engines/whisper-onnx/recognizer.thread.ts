import { workerData } from 'node:worker_threads';
import { serveThread } from '../threads/serve-thread.js';
import { DecodeLoop } from './decode-loop.js';
import { readWhisperFolder } from './model-files.js';
import { WhisperModel } from './model.js';
import { type WhisperInfo, type WhisperProtocol, type WhisperThreadData } from './protocol.js';
import { WhisperVocabulary } from './vocabulary.js';
import { WindowSteps } from './window-steps.js';

/**
 * Entry of the thread that owns a model's sessions: onnxruntime-node's `run()` blocks its thread in spite of its
 * promise, so neither it nor the sampling may happen on the loop that serves gRPC. No decorators here or in anything
 * imported.
 */
serveThread<WhisperProtocol, WhisperInfo>(async () => {
  const options = workerData as WhisperThreadData;
  const folder = readWhisperFolder(options);
  const { config } = folder;
  const vocabulary = new WhisperVocabulary(folder);
  const model = await WhisperModel.open(folder, options);
  const steps = new WindowSteps(model, vocabulary, config);
  const { windowFrames, positions } = config;
  const rules = { vocabulary, windowFrames, positions, conditionOnPreviousText: options.conditionOnPreviousText };
  const loop = new DecodeLoop(steps, rules, options.maxBatch);
  return {
    info: {
      ...{ revision: folder.revision, mels: config.mels, callMs: model.windowMs * options.maxBatch },
      languages: vocabulary.multilingual ? [...vocabulary.languages.keys()] : ['en'],
      multilingual: vocabulary.multilingual,
      wordTimestamps: model.showsCrossAttentions && vocabulary.alignmentHeads.length > 0,
    },
    operations: {
      transcribe: (jobs, notify) => loop.run(jobs, notify),
      counters: () => steps.counters,
    },
    close: () => model.close(),
  };
});
