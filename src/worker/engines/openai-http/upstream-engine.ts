import { type BehaviorSubject } from 'rxjs';
import { type RetryTiming } from '../../../platform/http/retry-after.js';
import {
  cancelledError,
  type EngineCapability,
  type EngineInfo,
  failed,
  type ItemOutcome,
  succeeded,
} from '@switchyard/engine-api/engine.js';
import { type Fields, isObject } from '@switchyard/engine-api/is-object.js';
import { type OpenAiHttpOptions } from './options.js';
import { textOf } from './upstream-exchange.js';
import { Upstream } from './upstream.js';

const LONGEST_PROBE_MS = 5000;
const LONGEST_LIST_BYTES = 1_048_576;

/**
 * One look at `GET /models`. An upstream that is away, or that has no such route, is no
 * reason not to start: the worker would only restart for ever. It is ready as soon as
 * the upstream answers.
 * @returns as revision what ran, as far as the upstream tells: `whisper-large-v3
 *   (2024-05-01) at gpu-7:8000`
 */
async function probe(
  upstream: Upstream,
  { baseUrl, model, timeoutMs }: OpenAiHttpOptions,
) {
  const { host } = new URL(baseUrl);
  const revision = `${model} at ${host}`;
  try {
    const list = await upstream.attempt({
      path: '/models',
      accept: 'application/json',
      signal: AbortSignal.timeout(Math.min(LONGEST_PROBE_MS, timeoutMs)),
      read: body => textOf(body, LONGEST_LIST_BYTES),
    });
    const { data } = (JSON.parse(list) ?? {}) as { readonly data?: unknown };
    if (!Array.isArray(data)) throw new Error('the answer has no `data`');
    const listed = data.filter(isObject);
    const found = listed.find(({ id }) => id === model);
    if (found) return { revision: `${model}${madeOn(found)} at ${host}` };
    const warning = `${baseUrl}/models does not list options.model '${model}'${names(listed)}`;
    return { revision, warning };
  } catch (error) {
    const { message } = error as Error;
    return { revision, warning: `${baseUrl}/models gave no list of models: ${message}` };
  }
}

function madeOn({ created }: Fields): string {
  if (typeof created !== 'number' || !(created > 0 && created < 1e11)) return '';
  return ` (${new Date(created * 1000).toISOString().slice(0, 10)})`;
}

function names(listed: readonly Fields[]): string {
  const ids = listed.map(({ id }) => String(id));
  if (ids.length === 0) return '';
  return `; it lists ${ids.slice(0, 10).join(', ')}${ids.length > 10 ? ', …' : ''}`;
}

/**
 * An upstream cannot be asked what it can do: of what the protocol carries, the entry in
 * `models.yaml` tells what is there. A worker may run `maxConcurrent` calls of `maxBatch`
 * items, so together they stay within the upstream's limit.
 */
function unloadedInfo(
  options: OpenAiHttpOptions,
  carried: readonly EngineCapability[],
): EngineInfo {
  const { capabilities, languages, maxBatch, maxConcurrent } = options;
  return {
    engine: 'openai-http',
    device: 'remote',
    revision: '',
    maxBatch,
    maxConcurrent: Math.floor(maxConcurrent / maxBatch),
    streams: 0,
    capabilities:
      capabilities.length === 0
        ? carried
        : carried.filter(name => capabilities.includes(name)),
    languages,
  };
}

/**
 * The life of an engine that is another server: opened at load, asked what it has, closed
 * at the end.
 */
export abstract class UpstreamEngine<
  Options extends OpenAiHttpOptions = OpenAiHttpOptions,
> {
  /**
   * Called while it loads. A process warning is a line on stderr, which the supervisor of
   * a process keeps.
   */
  onWarning: (text: string) => void = text =>
    process.emitWarning(text, 'UpstreamWarning');
  protected readonly upstream: Upstream;
  info: EngineInfo;

  /** `carried`: what the protocol can ask an upstream of this kind for. */
  constructor(
    protected readonly options: Options,
    carried: readonly EngineCapability[],
    timing?: RetryTiming,
  ) {
    this.upstream = new Upstream(options, timing);
    this.info = unloadedInfo(options, carried);
  }

  get away$(): BehaviorSubject<boolean> {
    return this.upstream.away$;
  }

  /**
   * Opens the upstream and says what the operator should know. @throws Error naming the
   * file that cannot be used.
   */
  async load(): Promise<void> {
    const warnings = await this.upstream.open();
    const { revision, warning } = await probe(this.upstream, this.options);
    for (const text of [...warnings, warning])
      if (text !== undefined) this.onWarning(`Model '${this.options.modelId}': ${text}`);
    this.info = { ...this.info, revision };
  }

  close(): Promise<void> {
    this.upstream.close();
    return Promise.resolve();
  }

  /** Side by side; whatever goes wrong is the outcome of its item (D-05). */
  protected each<
    Item extends { readonly requestId: string; readonly signal: AbortSignal },
    Value,
  >(
    batch: readonly Item[],
    ask: (item: Item) => Promise<Value>,
  ): Promise<ItemOutcome<Value>[]> {
    const outcome = async (item: Item): Promise<ItemOutcome<Value>> => {
      try {
        item.signal.throwIfAborted();
        return succeeded(await ask(item));
      } catch (error) {
        return failed(item.signal.aborted ? cancelledError(item.requestId) : error);
      }
    };
    return Promise.all(batch.map(outcome));
  }
}
