import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { ClusterProcess } from '../support/cluster-process.js';
import { startShared } from '../support/leftovers.js';
import { Product } from '../support/product.js';
import { syntheticModel } from '../support/synthetic-model.js';

/** Words of an upload or a prompt that are answered after this time. */
export const SLOWLY = 'slowly';
const SLOW_MS = 3000;
const faults = [{ marker: SLOWLY, action: 'slow', ms: SLOW_MS }];

/** One of each kind: engines have suites of their own. */
const MODELS: readonly ModelSpec[] = [
  syntheticModel(
    { streams: 4, faults },
    { capabilities: ['transcribe', 'translate', 'stream'], aliases: ['whisper-1'] },
  ),
  syntheticModel(
    { faults },
    {
      ...{ id: 'voice', kind: 'tts', aliases: ['tts-1'], voices: { alloy: 'synthetic' } },
      capabilities: ['speech', 'speed'],
    },
  ),
  syntheticModel(
    { maxConcurrent: 8, faults },
    { id: 'llm', kind: 'llm', capabilities: ['chat', 'completions'] },
  ),
  syntheticModel(
    { dimensions: 4, faults },
    { id: 'vectors', kind: 'embedding', capabilities: ['embeddings', 'dimensions', 'rerank'] },
  ),
];

let embedded: Promise<Product> | undefined;
let cluster: Promise<ClusterProcess> | undefined;

/** One gateway with its workers and batch processor, SQLite. The files of this folder share it. */
export function embeddedProduct(): Promise<Product> {
  return (embedded ??= startShared(() => Product.start(MODELS, { 'batch.embedded': 'true' })));
}

/** Two gateways, workers that pull, two processors, Redis, PostgreSQL; likewise shared. */
export function clusterProduct(): Promise<ClusterProcess> {
  return (cluster ??= startShared(() =>
    ClusterProcess.start(MODELS, { 'requests.lease_ms': 1000 }),
  ));
}
