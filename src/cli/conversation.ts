import { randomUUID } from 'node:crypto';
import { stdout } from 'node:process';
import { type GatewayClient } from './shared/gateway-client.js';
import { serverEvents } from './shared/server-events.js';
import { RequestWatch } from './request-watch.js';
import { ProgressLine, say } from './shared/terminal.js';

export interface ConversationOptions {
  readonly model: string;
  readonly system?: string;
  /** What each request of the conversation has besides its messages. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly priority?: string;
  readonly timings?: boolean;
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
  async ask(question: string, signal: AbortSignal): Promise<void> {
    const asked: Message[] = [...this.#messages, { role: 'user', content: question }];
    const id = `cli-${randomUUID()}`;
    const watch = new RequestWatch(this.client, id, new ProgressLine());
    try {
      const response = await this.#request(id, asked, signal);
      const { text, usage } = await this.#written(response, watch);
      this.#messages = [...asked, { role: 'assistant', content: text }];
      if (this.options.timings) say(await this.#account(watch, response, usage));
    } finally {
      watch.stop();
    }
  }

  #request(
    id: string,
    messages: readonly Message[],
    signal: AbortSignal,
  ): Promise<Response> {
    const { model, fields, priority } = this.options;
    const body = {
      model,
      messages,
      ...fields,
      stream: true,
      stream_options: { include_usage: true },
    };
    const headers = {
      'content-type': 'application/json',
      'x-request-id': id,
      ...(priority !== undefined && { 'x-priority': priority }),
    };
    return this.client.request('/v1/chat/completions', {
      method: 'POST',
      body: JSON.stringify(body),
      headers,
      signal,
    });
  }

  async #written(
    response: Response,
    watch: RequestWatch,
  ): Promise<{ text: string; usage: Chunk['usage'] }> {
    let text = '';
    let usage: Chunk['usage'];
    for await (const event of serverEvents(response)) {
      watch.stop();
      const chunk = event as Chunk;
      const said = chunk.choices?.[0]?.delta?.content ?? '';
      stdout.write(said);
      text += said;
      usage ??= chunk.usage;
    }
    stdout.write('\n');
    return { text, usage };
  }

  async #account(
    watch: RequestWatch,
    { headers }: Response,
    usage: Chunk['usage'],
  ): Promise<string> {
    const first = headers.get('x-switchyard-ttft-ms');
    const tokens = usage
      ? `, ${usage.prompt_tokens} + ${usage.completion_tokens} tokens`
      : '';
    return `${first === null ? '' : `first token ${first} ms, `}${await watch.timings()}${tokens}`;
  }
}
