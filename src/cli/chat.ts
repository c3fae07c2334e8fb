import { stderr, stdin } from 'node:process';
import { createInterface } from 'node:readline/promises';
import { text as textOf } from 'node:stream/consumers';
import { Command, Option } from 'commander';
import { CliError, EXIT, interruptible } from './cli-error.js';
import { Conversation } from './conversation.js';
import { GatewayClient, type GatewayOptions, withGatewayOptions } from './gateway-client.js';
import { MARKS, say } from './terminal.js';

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

interface ChatOptions extends GatewayOptions {
  readonly model?: string;
  readonly system?: string;
  readonly maxTokens?: string;
  readonly temperature?: string;
  readonly seed?: string;
  readonly stop?: string[];
  readonly json?: boolean;
  readonly priority?: string;
  readonly timings?: boolean;
}

const EXAMPLES = `
Examples:
  switchyard chat                                      talk: a line each, /clear begins anew, /exit or Ctrl-D ends
  switchyard chat "What does a switchyard do?"         one question, its answer on stdout
  git diff | switchyard chat - --system "Write a commit message." > message.txt
  switchyard chat "Three fruits." --json --seed 7 --temperature 0.2
  switchyard chat --priority realtime --timings        before bulk work in the line; where the time went, on stderr

Without --model it is the first model of the gateway that chats. Words appear as they are made. Ctrl-C stops the answer in
the worker too.`;

export const chatCommand = (): Command =>
  withGatewayOptions(new Command('chat'))
    .description('talk with a language model, by a running gateway')
    .argument('[prompt]', 'one question, or - for stdin; without it, a conversation')
    .option('-m, --model <name>', 'model or alias')
    .option('-s, --system <text>', 'who the model is to be')
    .option('-n, --max-tokens <number>', 'longest answer')
    .option('-t, --temperature <number>', '0 to 2; 0: always the likeliest word')
    .option('--seed <number>', 'the same seed, the same answer')
    .option('--stop <texts...>', 'the answer ends before one of these')
    .option('--json', 'the answer is one JSON object')
    .addOption(new Option('--priority <class>', 'which line to stand in').choices(['realtime', 'batch']))
    .option('--timings', 'say on stderr where the time went')
    .addHelpText('after', EXAMPLES)
    .action((prompt: string | undefined, options: ChatOptions) =>
      interruptible(signal => chat(prompt, options, signal)),
    );

async function chat(prompt: string | undefined, options: ChatOptions, signal: AbortSignal): Promise<void> {
  const client = new GatewayClient(options);
  const model = options.model ?? (await chatModel(client, signal));
  const { system, priority, timings } = options;
  const conversation = new Conversation(client, {
    ...{ model, fields: fieldsOf(options) },
    ...(system !== undefined && { system }),
    ...(priority !== undefined && { priority }),
    ...(timings && { timings }),
  });
  if (prompt !== undefined) return conversation.ask(prompt === '-' ? await textOf(stdin) : prompt, signal);
  if (stdin.isTTY) say(`Talking with ${model}. /clear begins anew, /exit ends.`);
  await talk(conversation, signal);
}

/** A mistake of one question is told, and the talk goes on. */
async function talk(conversation: Conversation, signal: AbortSignal): Promise<void> {
  const lines = createInterface({
    input: stdin,
    output: stderr,
    terminal: stdin.isTTY,
    prompt: stdin.isTTY ? '> ' : '',
  });
  // On a terminal readline takes Ctrl-C for itself.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  signal.addEventListener('abort', () => lines.close(), { once: true });
  // What comes from a pipe is all there at once, and closed before it is read.
  const prompt = (): void => void (stdin.isTTY && lines.prompt());
  prompt();
  for await (const line of lines) {
    const said = line.trim();
    if (said === '/exit') break;
    if (said === '/clear') conversation.clear();
    else if (said !== '') await conversation.ask(said, signal).catch(tell);
    prompt();
  }
  lines.close();
  signal.throwIfAborted();
}

function tell(error: unknown): void {
  if (!(error instanceof CliError)) throw error;
  say(`${MARKS.fail} ${error.message}`);
}

const fieldsOf = ({ maxTokens, temperature, seed, stop, json }: ChatOptions): Readonly<Record<string, unknown>> => ({
  ...(maxTokens !== undefined && { max_completion_tokens: Number(maxTokens) }),
  ...(temperature !== undefined && { temperature: Number(temperature) }),
  ...(seed !== undefined && { seed: Number(seed) }),
  ...(stop && { stop }),
  ...(json && { response_format: { type: 'json_object' } }),
});
