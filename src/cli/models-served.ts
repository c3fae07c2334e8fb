import { CliError, EXIT } from './shared/cli-error.js';
import { GatewayClient, type GatewayClientOptions } from './shared/gateway-client.js';
import { say } from './shared/terminal.js';

interface AdminModel {
  readonly state: string;
  readonly reason?: string;
}

const POLL_MS = 500;
/** A gateway that is not there must not be waited for. */
const ANSWER_MS = 10_000;

/** What a running gateway made of a changed models file. */
export type Served = 'loaded' | 'loading' | 'on request' | 'no gateway';

/**
 * Lets a running gateway read the models file again. @returns undefined when
 * none answers, which is no failure: the next start reads it. @throws CliError
 * when one refuses
 */
export async function reloadGateway(
  options: GatewayClientOptions,
): Promise<GatewayClient | undefined> {
  const client = new GatewayClient(options);
  try {
    await client.json('/admin/v1/models/reload', {
      method: 'POST',
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return client;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    if (error.exitCode !== EXIT.unreachable) throw explained(error, client);
    say(`no gateway answers at ${client.url}; the next start reads the models file`);
    return undefined;
  }
}

const explained = (error: CliError, { url }: GatewayClient): CliError =>
  new CliError(
    `the models file is changed, but the gateway at ${url} did not take it: ${error.message}. ` +
      'It needs a key with the scope admin (--key-file, SWITCHYARD_API_KEY); a restart does the same',
    error.exitCode,
    { cause: error },
  );

/**
 * Waits until a model can be used. @throws CliError with the reason for one that cannot
 */
export async function untilLoaded(
  client: GatewayClient,
  id: string,
  signal: AbortSignal,
): Promise<Served> {
  for (;;) {
    const { data } = await client.json<{
      data: (AdminModel & { id: string; starts_on_request: boolean })[];
    }>('/admin/v1/models', { signal });
    const model = data.find(one => one.id === id);
    if (!model)
      throw new CliError(
        `the gateway at ${client.url} reads another models file: it has no model ${id}`,
      );
    if (model.state === 'loaded') return 'loaded';
    if (model.state === 'failed')
      throw new CliError(
        `${id} does not load: ${model.reason ?? 'see the gateway’s log'}`,
      );
    if (model.state === 'unloaded') return 'on request';
    await new Promise(resolve => setTimeout(resolve, POLL_MS));
    signal.throwIfAborted();
  }
}
