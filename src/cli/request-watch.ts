import { randomUUID } from 'node:crypto';
import type { GatewayClient } from './shared/gateway-client.js';
import { ProgressLine } from './shared/terminal.js';

const EVERY_MS = 500;

/**
 * A request to the gateway, and where it is while its answer is awaited.
 * @param use called with the answer; the watching ends with it, unless it ends it before
 */
export async function watched<T>(
  client: GatewayClient,
  path: string,
  { body, priority }: { readonly body: object; readonly priority: string | undefined },
  use: (response: Response, watch: ReturnType<typeof startWatch>) => Promise<T>,
): Promise<T> {
  const watch = startWatch(client);
  try {
    const headers = {
      'x-request-id': watch.id,
      ...(priority !== undefined && { 'x-priority': priority }),
    };
    return await use(await client.request('post', path, { body, headers }), watch);
  } finally {
    watch.stop();
  }
}

/** Asks the gateway where a request is until `stop`, and shows it on stderr. */
function startWatch(client: GatewayClient) {
  const id = `cli-${randomUUID()}`;
  const line = new ProgressLine();
  const stopped = new AbortController();
  const ask = (signal?: AbortSignal) =>
    client.call('get', '/v1/requests/{id}', { id, signal });
  const look = async () => {
    const { state, position, model } = await ask(stopped.signal);
    if (stopped.signal.aborted) return;
    const isQueued = state === 'queued' && position !== undefined;
    line.show(isQueued ? `queued: number ${position} in the queue of ${model}` : state);
  };
  line.show('sending');
  // It is not there before the upload is in, and after the end; the request itself
  // reports a failed answer.
  const timer = setInterval(() => void look().catch(() => undefined), EVERY_MS);
  return {
    id,
    stop: () => {
      clearInterval(timer);
      stopped.abort();
      line.clear();
    },
    /**
     * Where the time went, as the gateway books it; after the end, since a streamed
     * answer begins before it is known.
     */
    timings: async () =>
      Object.entries((await ask()).phases)
        .map(([name, ms]) => `${name.replace(/_ms$/, '')} ${ms.toFixed(1)} ms`)
        .join(', '),
  };
}
