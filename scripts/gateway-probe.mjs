import { setTimeout as pause } from 'node:timers/promises';

const PROBE_EVERY_MS = 200;
const PROBE_LIMIT_MS = 2000;

/**
 * Probes `/health` until every model is ready, the limit is over or the gateway stops. `/health/ready` would be too
 * early:
 * one ready model makes a gateway worth sending requests to, and the examples need two.
 */
export async function waitUntilReady(base, limitMs, stopping) {
  const endMs = Date.now() + limitMs;
  let detail = 'the gateway does not answer';
  while (Date.now() < endMs && !stopping.aborted) {
    const health = await probe(`${base}/health`);
    if (health?.status === 'ok') return { ready: true };
    if (health) detail = `still starting: ${notReady(health).join(', ')}`;
    await pause(PROBE_EVERY_MS);
  }
  return { ready: false, detail };
}

// A server that asks for keys names no models to those without one.
const notReady = ({ status, models }) => models?.filter(({ ready }) => !ready).map(({ id }) => id) ?? [status];

async function probe(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PROBE_LIMIT_MS) });
    return await response.json();
  } catch {
    return undefined; // nothing listens yet
  }
}
