import { stderr, stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline/promises';
import { text as textOf } from 'node:stream/consumers';
import { parseNumber, parseWholeNumber } from '../shared/arguments.js';
import { CliError, usageError } from '../shared/cli-error.js';
import { gatewayCommand, type OptionValues } from '../shared/command.js';
import { type GatewayClient, serverEvents } from '../shared/gateway-client.js';
import { MARKS, say } from '../shared/terminal.js';
import { watchedRequest } from './request-watch.js';

const HELP = `
Examples:
  switchyard chat                                      a conversation; /clear starts over, /exit or Ctrl-D ends it
  switchyard chat "What does a switchyard do?"         one question; the answer goes to stdout
  git diff | switchyard chat - --system "Write a commit message." > message.txt
  switchyard chat "Three fruits." --json --seed 7 --temperature 0.2
  switchyard chat --priority realtime --timings        ahead of batch requests; time per phase on stderr

The default model is the first one that can chat. The answer is streamed. Ctrl-C also cancels it in the worker.
With questions from a pipe, one a line, the exit code is that of the last question that failed.`;

const OPTIONS = {
  '-m, --model <name>': 'model or alias',
  '-s, --system <text>': 'system prompt',
  '-n, --max-tokens <number>': ['maximum tokens of the answer', parseWholeNumber(1)],
  '-t, --temperature <number>': ['0 to 2; 0 = always the most likely token', parseNumber(0, 2)],
  '--seed <number>': [
    'the same seed gives the same answer',
    parseWholeNumber(Number.MIN_SAFE_INTEGER),
  ],
  '--stop <texts...>': 'end the answer before one of these texts',
  '--json': 'the answer is one JSON object',
  '--priority <class>': ['queue class', ['realtime', 'batch']],
  '--timings': 'report the time per phase on stderr',
} as const;

export const chatCommand = gatewayCommand('chat [prompt]', {
  about: 'talk to a language model of a running gateway',
  arg: 'one question, or - for stdin; without it, a conversation',
  help: HELP,
  options: OPTIONS,
  async run({ client, signal, arg: prompt, options }) {
    const { temperature, seed, stop, json, maxTokens } = options;
    const model = options.model ?? (await chatModel(client));
    const fields = {
      model,
      max_completion_tokens: maxTokens,
      temperature,
      seed,
      stop,
      response_format: json ? { type: 'json_object' } : undefined,
    };
    const conversation = new Conversation(client, fields, options);
    if (prompt !== undefined)
      return conversation.ask(prompt === '-' ? await textOf(stdin) : prompt);
    if (stdin.isTTY) say(`Talking to ${model}. /clear starts over, /exit ends.`);
    await talk(conversation, signal);
  },
});

/**
 * Id of the first chat model of the gateway. @throws CliError exit code 2 when
 * there is none
 */
async function chatModel(client: GatewayClient) {
  const { data } = await client.call('get', '/v1/models');
  const chatting = data.find(
    ({ id, root, capabilities }) => id === root && capabilities.includes('chat'),
  );
  if (chatting) return chatting.id;
  const hint = 'add a model of kind llm to config/models.yaml, or name one with --model';
  throw usageError(`the gateway has no model that can chat; ${hint}`);
}

/**
 * A conversation, one question a line. A failed question is reported and the
 * conversation continues.
 */
async function talk(conversation: Conversation, signal: AbortSignal) {
  const lines = createInterface({
    input: stdin,
    output: stderr,
    terminal: stdin.isTTY,
    prompt: stdin.isTTY ? '> ' : '',
  });
  // On a terminal readline takes Ctrl-C for itself.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  signal.addEventListener('abort', () => lines.close(), { once: true });
  // Input from a pipe arrives at once and is closed before it is read: no prompt.
  const prompt = (): void => void (stdin.isTTY && lines.prompt());
  prompt();
  for await (const line of lines) {
    const said = line.trim();
    if (said === '/exit') break;
    if (said === '/clear') conversation.clear();
    else if (said !== '') await conversation.ask(said).catch(report);
    prompt();
  }
  lines.close();
  signal.throwIfAborted();
}

/** From a pipe, the failure is also the exit code of the command. */
function report(error: unknown) {
  if (!(error instanceof CliError)) throw error;
  say(`${MARKS.fail} ${error.message}`);
  if (!stdin.isTTY) process.exitCode = error.exitCode;
}

/** The messages so far, and the next answer of the model. */
class Conversation {
  #messages: readonly { readonly role: string; readonly content: string }[] = [];

  /** @param fields fields of each request besides its messages */
  constructor(
    private readonly client: GatewayClient,
    private readonly fields: object,
    private readonly options: OptionValues<typeof OPTIONS>,
  ) {
    this.clear();
  }

  /** Removes all messages but those of the system. */
  clear(): void {
    const { system } = this.options;
    this.#messages = system === undefined ? [] : [{ role: 'system', content: system }];
  }

  /** @throws CliError with what the gateway said; the question is then as never asked */
  async ask(question: string): Promise<void> {
    const messages = [...this.#messages, { role: 'user', content: question }];
    const stream_options = { include_usage: true };
    const body = { messages, ...this.fields, stream: true, stream_options };
    const { priority, timings } = this.options;
    using watch = watchedRequest(this.client);
    const response = await watch.post('/v1/chat/completions', body, priority);
    const { content, tokens } = await written(response, watch.stop);
    if (timings) {
      const first = response.headers.get('x-switchyard-ttft-ms');
      const ttft = first === null ? '' : `first token ${first} ms, `;
      say(`${ttft}${await watch.timings()}${tokens}`);
    }
    this.#messages = [...messages, { role: 'assistant', content }];
  }
}

/** Writes an answer to stdout while it comes. @param onChunk called with each part */
async function written(response: Response, onChunk: () => void) {
  let [content, tokens] = ['', ''];
  const events = serverEvents<{
    readonly choices?: readonly { readonly delta?: { readonly content?: string } }[];
    readonly usage?: {
      readonly prompt_tokens: number;
      readonly completion_tokens: number;
    } | null;
  }>(response);
  for await (const { choices, usage } of events) {
    onChunk();
    const said = choices?.[0]?.delta?.content ?? '';
    stdout.write(said);
    content += said;
    if (usage) tokens ||= `, ${usage.prompt_tokens} + ${usage.completion_tokens} tokens`;
  }
  stdout.write('\n');
  return { content, tokens };
}
