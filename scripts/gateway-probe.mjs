import { setTimeout as pause } from 'node:timers/promises';

const PROBE_EVERY_MS = 200;
const PROBE_LIMIT_MS = 2000;
/**
 * A model that has failed for so long is restarted with growing pauses; nothing is gained
 * by waiting for it.
 */
const GIVE_UP_AFTER_MS = 5000;

const SILENT = 'the gateway does not answer';

/**
 * Probes `/health` until every model is ready, nothing but failed models is left, the
 * limit is over or the gateway stops; with `models: []`, until it answers. `/health/ready`
 * would be too early: one ready model makes a gateway worth sending requests to, and the
 * examples need two.
 */
export async function waitUntilReady(base, { limitMs, stopping, models = undefined }) {
  const endMs = Date.now() + limitMs;
  let unsettledMs = Date.now();
  let detail = SILENT;
  while (Date.now() < endMs && !stopping.aborted) {
    const health = await probe(`${base}/health`);
    if (health?.status === 'ok') return { ready: true };
    if (health && models?.length === 0) return { ready: true, detail: notReady(health) };
    if (health) detail = notReady(health);
    if (!health?.models?.every(({ ready, state }) => ready || state === 'failed'))
      unsettledMs = Date.now();
    if (Date.now() - unsettledMs > GIVE_UP_AFTER_MS) break;
    await pause(PROBE_EVERY_MS);
  }
  return { ready: false, detail };
}

/**
 * Resolves when models with these names are served. A server that asks for keys tells none to
 * those without one.
 */
export async function waitUntilNamed(base, names, stopping) {
  while (!stopping.aborted) {
    const served = (await probe(`${base}/v1/models`))?.data ?? [];
    if (names.every(name => served.some(({ id }) => id === name))) return;
    await pause(PROBE_EVERY_MS);
  }
}

/** A server that asks for keys names no models to those without one. */
function notReady({ status, models }) {
  if (!models) return `still starting: ${status}`;
  const names = which =>
    models
      .filter(which)
      .map(({ id }) => id)
      .join(', ');
  const failed = names(({ state }) => state === 'failed');
  const starting = names(({ ready, state }) => !ready && state !== 'failed');
  const parts = [
    starting && `still starting: ${starting}`,
    failed && `failed, as the log says: ${failed}`,
  ];
  return parts.filter(Boolean).join('; ') || status;
}

async function probe(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PROBE_LIMIT_MS) });
    return await response.json();
  } catch {
    return undefined; // nothing listens yet
  }
}
