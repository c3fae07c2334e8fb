import { type OpenAiHttpOptions } from './openai-http-options.js';
import { type Upstream } from './upstream.js';
import { textOf } from './upstream-answer.js';

const LONGEST_PROBE_MS = 5000;
const LONGEST_LIST_BYTES = 1_048_576;

export interface ProbeResult {
  /** What ran, as far as the upstream tells: `whisper-large-v3 (2024-05-01) at gpu-7:8000`. */
  readonly revision: string;
  readonly warning: string | undefined;
}

interface Listed {
  readonly id?: unknown;
  readonly created?: unknown;
}

/**
 * One look at `GET /models`. An upstream that is down, or that has no such route, is no reason not to start: the worker
 * would only restart for ever, and requests tell what is wrong.
 */
export async function probe(
  upstream: Upstream,
  { baseUrl, model, timeoutMs }: OpenAiHttpOptions,
): Promise<ProbeResult> {
  const revision = `${model} at ${new URL(baseUrl).host}`;
  try {
    const signal = AbortSignal.timeout(Math.min(LONGEST_PROBE_MS, timeoutMs));
    const read = (body: AsyncIterable<Buffer>): Promise<string> => textOf(body, LONGEST_LIST_BYTES);
    const list = await upstream.attempt({ path: '/models', accept: 'application/json', signal, read });
    const listed = modelsIn(JSON.parse(list));
    const found = listed.find(({ id }) => id === model);
    if (found) return { revision: `${model}${madeOn(found)} at ${new URL(baseUrl).host}`, warning: undefined };
    return { revision, warning: `${baseUrl}/models does not list options.model '${model}'${names(listed)}` };
  } catch (error) {
    return { revision, warning: `${baseUrl}/models gave no list of models: ${(error as Error).message}` };
  }
}

function modelsIn(answer: unknown): readonly Listed[] {
  const { data } = (answer ?? {}) as { data?: unknown };
  if (!Array.isArray(data)) throw new Error('the answer has no `data`');
  return data.filter((item): item is Listed => typeof item === 'object' && item !== null);
}

function madeOn({ created }: Listed): string {
  if (typeof created !== 'number' || !(created > 0 && created < 1e11)) return '';
  return ` (${new Date(created * 1000).toISOString().slice(0, 10)})`;
}

function names(listed: readonly Listed[]): string {
  const ids = listed.map(({ id }) => String(id));
  if (ids.length === 0) return '';
  return `; it lists ${ids.slice(0, 10).join(', ')}${ids.length > 10 ? ', …' : ''}`;
}
