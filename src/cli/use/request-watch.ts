import { randomUUID } from 'node:crypto';
import type { GatewayClient } from '../shared/gateway-client.js';
import { ProgressLine } from '../shared/terminal.js';

const EVERY_MS = 500;

/**
 * A request to the gateway; where it is is asked and shown on stderr until `stop`, or until
 * it is disposed of.
 */
export function watchedRequest(client: GatewayClient) {
  const id = `cli-${randomUUID()}`;
  const line = new ProgressLine();
  const stopped = new AbortController();
  const ask = (signal?: AbortSignal) => client.call('get', '/v1/requests/{id}', { id, signal });
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
  const stop = () => {
    clearInterval(timer);
    stopped.abort();
    line.clear();
  };
  return {
    id,
    stop,
    [Symbol.dispose]: stop,
    post(path: string, body: object, priority: string | undefined): Promise<Response> {
      const own = priority !== undefined && { 'x-priority': priority };
      const headers = { 'x-request-id': id, ...own };
      return client.request('post', path, { body, headers });
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
