import { setTimeout as pause } from 'node:timers/promises';
import { CliError, EXIT } from '../shared/cli-error.js';
import { type GatewayClient } from '../shared/gateway-client.js';
import { say } from '../shared/terminal.js';

const POLL_MS = 500;
/** Longest wait for a gateway's answer. */
const ANSWER_MS = 10_000;

/**
 * Lets a running gateway read the models file again. @returns false when none
 * answers, which is no failure: the next start reads it. @throws CliError
 * when one refuses
 */
export async function reloadGateway(client: GatewayClient): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    await client.call('post', '/admin/v1/models/reload', { signal });
    return true;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { url } = client;
    if (error.exitCode !== EXIT.unreachable)
      throw new CliError(
        `the models file is changed, but the gateway at ${url} did not take it: ${error.message}. ` +
          'It needs a key with the scope admin (--key-file, SWITCHYARD_API_KEY); a restart does the same',
        error.exitCode,
        { cause: error },
      );
    say(`no gateway answers at ${url}; the next start reads the models file`);
    return false;
  }
}

/**
 * Waits until a model can be used. @throws CliError with the reason for one that cannot
 */
export async function untilLoaded(
  client: GatewayClient,
  id: string,
  signal: AbortSignal,
): Promise<'loaded' | 'on request'> {
  for (;;) {
    const { data } = await client.call('get', '/admin/v1/models');
    const model = data.find(one => one.id === id);
    if (!model)
      throw new CliError(
        `the gateway at ${client.url} reads another models file: it has no model ${id}`,
      );
    if (model.state === 'loaded') return 'loaded';
    if (model.state === 'unloaded') return 'on request';
    if (model.state === 'failed')
      throw new CliError(`${id} does not load: ${model.reason ?? 'see the gateway’s log'}`);
    await pause(POLL_MS, undefined, { signal });
  }
}
