import { LlamaBackend } from '@switchyard/engine-llama-cpp/backend.js';
import { readLlamaOptions } from '@switchyard/engine-llama-cpp/options.js';
import { llamaModel } from '../../support/llama-model.js';
import { modelSpec } from '../engines/engine-items.js';
import { describeTextBackend } from './text-backend.contract.js';

const MEMORIES = [
  ['llama.cpp', {}],
  ['llama.cpp, memory shared', { kvTokens: 512 }],
] as const;

for (const [name, memory] of MEMORIES)
  describeTextBackend(name, async () => {
    const options = {
      modelFile: await llamaModel(),
      device: 'cpu',
      rows: 4,
      contextTokens: 256,
      threads: 1,
      exact: true,
      ...memory,
    };
    const backend = new LlamaBackend(readLlamaOptions(modelSpec('llama-cpp', 'llm', options)));
    return { backend, kill: () => process.kill(backend.pid!, 'SIGKILL') };
  });
