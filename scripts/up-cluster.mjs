import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { HOME } from './setup/command.mjs';
import { bold, dim, say, warn } from './setup/report.mjs';
import { Cluster } from './topology/cluster.mjs';
import { examples } from './up-examples.mjs';

const PROBE_EVERY_MS = 250;

/**
 * `npm run up -- --topology cluster`: runs until a signal ends it. @returns exit code
 * @param settings of the product, with `env`, `host`, `port`, `graceMs`,
 *   `models`, `modelsFile`
 * @param sizes {data, gateways, workers, processors}
 */
export async function serveCluster(settings, sizes, readyLimitMs) {
  const cluster = new Cluster({
    ...settings,
    ...sizes,
    folder: resolve(sizes.data ?? join(HOME, 'data', 'cluster')),
  });
  const stopping = new AbortController();
  const code = ended(cluster, stopping);
  // Nothing outlives this process, however it ends short of SIGKILL.
  process.on('exit', () => cluster.kill());
  await cluster.start();
  const base = `http://${settings.host}:${settings.port}`;
  const waiting = await untilReady(cluster, readyLimitMs, stopping.signal);
  if (waiting.length === 0)
    say(
      `\n${bold('Switchyard is ready')} on ${base}, ${cluster.members.length} processes behind it`,
    );
  else if (!stopping.signal.aborted)
    warn(`\nNot everything is ready: ${waiting.join(', ')}. Logs: ${cluster.logs}`);
  if (!stopping.signal.aborted) say(whatToTry(examples(base, settings), cluster));
  return code;
}

/** Resolves with the exit code when a signal has come and everything has ended. */
function ended(cluster, stopping) {
  return new Promise(resolve => {
    const stop = async signal => {
      if (stopping.signal.aborted) return say('Still draining; nothing more is needed.');
      stopping.abort();
      say(`\n${signal}: draining, gateways first.`);
      const killed = await cluster.stop();
      if (killed.length > 0) warn(`Did not stop in time and were killed: ${killed.join(', ')}`);
      say('Stopped.');
      resolve(killed.length > 0 ? 1 : 0);
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
      process.on(signal, () => void stop(signal));
  });
}

/**
 * @returns what is not ready when the limit is over: gateways, models
 *   by gateway, processors
 */
async function untilReady(cluster, limitMs, stopping) {
  const endMs = Date.now() + limitMs;
  let waiting = ['everything'];
  while (Date.now() < endMs && !stopping.aborted) {
    waiting = (
      await Promise.all([...cluster.gatewayUrls.map(notReady), ...cluster.metricsUrls.map(silent)])
    ).flat();
    if (waiting.length === 0) return waiting;
    await pause(PROBE_EVERY_MS);
  }
  return waiting;
}

/** A processor that answers looks for batches. */
async function silent(url) {
  const answer = await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
  await answer?.arrayBuffer();
  return answer?.ok ? [] : [url];
}

async function notReady(url) {
  try {
    const { status, models } = await (
      await fetch(`${url}/health`, { signal: AbortSignal.timeout(2000) })
    ).json();
    return status === 'ok'
      ? []
      : models.filter(({ ready }) => !ready).map(({ id }) => `${id} at ${url}`);
  } catch {
    return [url];
  }
}

function whatToTry(calls, cluster) {
  const rows = cluster.members.map(
    ({ spec: { name, port }, pid }) => `  ${name.padEnd(20)} ${String(pid).padEnd(8)} ${port}`,
  );
  return `
${calls}  ${bold('kill')}        kill -9 any of these: it is started again, and nothing that was accepted is lost

  ${dim('process              pid      port')}
${rows.join('\n')}

  logs        ${cluster.logs}/
  ${dim('Ctrl-C drains and stops all of them.')}
`;
}
