import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const PROBE_EVERY_MS = 200;
const PROBE_LIMIT_MS = 2000;

/** What keeps this process from listening there: an error code such as EADDRINUSE, or undefined. */
export function listenProblem(host, port) {
  return new Promise(resolve => {
    const server = createServer();
    server.once('error', error => resolve(error.code));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** Probes `/health/ready` until it answers 200, the limit is over or the gateway stops. */
export async function waitUntilReady(base, limitMs, stopping) {
  const endMs = Date.now() + limitMs;
  let detail = 'the gateway does not answer';
  while (Date.now() < endMs && !stopping.aborted) {
    const answer = await probe(`${base}/health/ready`);
    if (answer?.ready) return { ready: true };
    if (answer) detail = answer.detail;
    await pause(PROBE_EVERY_MS);
  }
  return { ready: false, detail };
}

async function probe(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PROBE_LIMIT_MS) });
    return { ready: response.ok, detail: (await response.text()).trim() };
  } catch {
    return undefined; // nobody listens yet
  }
}
