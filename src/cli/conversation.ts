import { stdout } from 'node:process';
import { type GatewayClient } from './shared/gateway-client.js';
import { serverEvents } from './shared/server-events.js';
import { type RequestWatch, watched } from './request-watch.js';
import { say } from './shared/terminal.js';

export interface ConversationOptions {
  readonly model: string;
  readonly system?: string | undefined;
  /** What each request of the conversation has besides its messages. */
  readonly fields: object;
  readonly priority?: string | undefined;
  readonly timings?: boolean | undefined;
}

interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

interface Chunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: string } }[];
  readonly usage?: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
  } | null;
}

/**
 * What was said so far, and the next answer of the model, written to stdout
 * while it comes.
 */
export class Conversation {
  #messages: Message[] = [];

  constructor(
    private readonly client: GatewayClient,
    private readonly options: ConversationOptions,
  ) {
    this.clear();
  }

  /** From the beginning; what the system said stays. */
  clear(): void {
    const { system } = this.options;
    this.#messages = system === undefined ? [] : [{ role: 'system', content: system }];
  }

  /** @throws CliError with what the gateway said; the question is then as never asked */
  async ask(question: string): Promise<void> {
    const messages: Message[] = [...this.#messages, { role: 'user', content: question }];
    const { model, fields, priority } = this.options;
    const body = {
      model,
      messages,
      ...fields,
      stream: true,
      stream_options: { include_usage: true },
    };
    await watched(
      this.client,
      '/v1/chat/completions',
      { body, priority },
      async (response, watch) => {
        const content = await this.#written(response, watch);
        this.#messages = [...messages, { role: 'assistant', content }];
      },
    );
  }

  async #written(response: Response, watch: RequestWatch): Promise<string> {
    let text = '';
    let usage: Chunk['usage'];
    for await (const chunk of serverEvents<Chunk>(response)) {
      watch.stop();
      const said = chunk.choices?.[0]?.delta?.content ?? '';
      stdout.write(said);
      text += said;
      usage ??= chunk.usage;
    }
    stdout.write('\n');
    if (this.options.timings) {
      const first = response.headers.get('x-switchyard-ttft-ms');
      const ttft = first === null ? '' : `first token ${first} ms, `;
      const tokens = usage
        ? `, ${usage.prompt_tokens} + ${usage.completion_tokens} tokens`
        : '';
      say(`${ttft}${await watch.timings()}${tokens}`);
    }
    return text;
  }
}
