import { join } from 'node:path';
import { HOME, inRoot } from '../setup/command.mjs';
import { nodeBinary } from '../setup/packages.mjs';
import { postgresUrl } from './servers.mjs';

/**
 * Beyond its own grace a process gets this long to settle the rest and close; then it
 * hangs and is killed.
 */
const KILL_AFTER_GRACE_MS = 10_000;

/**
 * The processes of Switchyard in a cluster, each with the settings that make it one of
 * many (docs/operate/going-to-production.md).
 * @param plan {folder, ports: {redis, postgres, proxy}, env, graceMs}
 */
export async function switchyardMembers(plan) {
  const settings = sharedSettings(plan);
  // Compiled by now: the flags that a gateway starts its own processor with.
  const { PROCESSOR_NODE_FLAGS } = await import(inRoot('dist/main.scripts.js'));
  const member = (name, kind, script, extra) => ({
    ...{
      name,
      kind,
      file: nodeBinary(),
      cwd: HOME,
      graceMs: plan.graceMs + KILL_AFTER_GRACE_MS,
      tied: true,
    },
    ...extra,
    args: [...(extra.nodeFlags ?? []), inRoot('dist', script), ...(extra.args ?? [])],
    env: { ...plan.env, ...settings, ...extra.env },
  });
  return {
    gateway: (number, port) =>
      member(`gateway-${number}`, 'gateway', 'main.gateway.js', {
        port,
        env: { SWITCHYARD_SERVER_PORT: String(port) },
      }),
    worker: (model, number, port) =>
      member(`${model}-${number}`, 'worker', 'main.worker.js', {
        port,
        args: ['--model', model, '--listen', `127.0.0.1:${port}`, '--id', `${model}-${number}`],
      }),
    processor: (number, port) =>
      member(`processor-${number}`, 'processor', 'main.batch.js', {
        port,
        nodeFlags: PROCESSOR_NODE_FLAGS,
        env: { SWITCHYARD_BATCH_METRICS_PORT: String(port) },
      }),
  };
}

function sharedSettings({ folder, ports, env }) {
  return {
    SWITCHYARD_SERVER_HOST: '127.0.0.1',
    SWITCHYARD_DATA_DIR: join(folder, 'data'),
    SWITCHYARD_WORKERS_MODELS_FILE: join(folder, 'models.yaml'),
    SWITCHYARD_DATABASE_URL: postgresUrl(ports.postgres),
    SWITCHYARD_REDIS_URL: `redis://127.0.0.1:${ports.redis}`,
    // Workers pull from it, and take what is pushed (live streams, text) besides.
    SWITCHYARD_QUEUE_DRIVER: 'redis',
    SWITCHYARD_AUTH_TOKEN_SECRET_FILE: join(folder, 'token-secret'),
    SWITCHYARD_BATCH_EMBEDDED: 'false',
    SWITCHYARD_BATCH_GATEWAY_URL: `http://127.0.0.1:${ports.proxy}`,
    SWITCHYARD_LOGGING_PRETTY: env.SWITCHYARD_LOGGING_PRETTY ?? 'false',
  };
}
