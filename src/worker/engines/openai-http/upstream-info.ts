import { type EngineCapability, type EngineInfo } from '../engine.js';
import { type OpenAiHttpOptions } from './openai-http-options.js';
import { type Upstream } from './upstream.js';
import { probe } from './upstream-probe.js';

/**
 * An upstream cannot be asked what it can do: of what the protocol carries, the entry in `models.yaml` tells what is there.
 * A worker may run `maxConcurrent` calls of `maxBatch` items, so together they stay within the upstream's limit.
 */
export function unloadedInfo(options: OpenAiHttpOptions, carried: readonly EngineCapability[]): EngineInfo {
  const { capabilities, languages, maxBatch, maxConcurrent } = options;
  return {
    engine: 'openai-http',
    device: 'remote',
    revision: '',
    maxBatch,
    maxConcurrent: Math.floor(maxConcurrent / maxBatch),
    streams: 0,
    capabilities: capabilities.length === 0 ? carried : carried.filter(name => capabilities.includes(name)),
    languages,
  };
}

/** Opens the upstream and says what the operator should know. @throws Error naming the file that cannot be used. */
export async function loadedInfo(
  info: EngineInfo,
  upstream: Upstream,
  options: OpenAiHttpOptions,
): Promise<EngineInfo> {
  const warnings = await upstream.open();
  const { revision, warning } = await probe(upstream, options);
  for (const text of [...warnings, warning]) {
    // Engines have no logger; a process warning is a line on stderr, which the supervisor keeps.
    if (text !== undefined) process.emitWarning(`Model '${options.modelId}': ${text}`, 'UpstreamWarning');
  }
  return { ...info, revision };
}
