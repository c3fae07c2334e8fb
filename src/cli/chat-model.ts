import { CliError, EXIT } from './cli-error.js';
import { type GatewayClient } from './gateway-client.js';

interface ListedModel {
  readonly id: string;
  readonly root: string;
  readonly kind: string;
  readonly capabilities: readonly string[];
}

/** The first model of the gateway that chats. @throws CliError exit code 2 when there is none */
export async function chatModel(client: GatewayClient, signal: AbortSignal): Promise<string> {
  const { data } = await client.json<{ readonly data: readonly ListedModel[] }>('/v1/models', { signal });
  const chatting = data.find(({ id, root, capabilities }) => id === root && capabilities.includes('chat'));
  if (chatting) return chatting.id;
  const hint = 'add a model of kind llm to config/models.yaml, or name one with --model';
  throw new CliError(`the gateway has no model that chats; ${hint}`, EXIT.usage);
}
