import { stderr, stdin } from 'node:process';
import { createInterface } from 'node:readline/promises';
import { text as textOf } from 'node:stream/consumers';
import { Command, Option } from 'commander';
import { parseNumber, parseWholeNumber } from './shared/arguments.js';
import { CliError, EXIT, interruptible } from './shared/cli-error.js';
import { Conversation } from './conversation.js';
import {
  GatewayClient,
  type GatewayClientOptions,
  withGatewayOptions,
} from './shared/gateway-client.js';
import { MARKS, say } from './shared/terminal.js';

interface ChatOptions extends GatewayClientOptions {
  readonly model?: string;
  readonly system?: string;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly seed?: number;
  readonly stop?: string[];
  readonly json?: boolean;
  readonly priority?: string;
  readonly timings?: boolean;
}

const EXAMPLES = `
Examples:
  switchyard chat                                      a conversation; /clear starts over, /exit or Ctrl-D ends it
  switchyard chat "What does a switchyard do?"         one question; the answer goes to stdout
  git diff | switchyard chat - --system "Write a commit message." > message.txt
  switchyard chat "Three fruits." --json --seed 7 --temperature 0.2
  switchyard chat --priority realtime --timings        ahead of batch requests; time per phase on stderr

The default model is the first one that can chat. The answer is streamed. Ctrl-C also cancels it in the worker.
With questions from a pipe, one a line, the exit code is that of the last question that failed.`;

export const chatCommand = (): Command =>
  withGatewayOptions(new Command('chat'))
    .description('talk to a language model of a running gateway')
    .argument('[prompt]', 'one question, or - for stdin; without it, a conversation')
    .option('-m, --model <name>', 'model or alias')
    .option('-s, --system <text>', 'system prompt')
    .option(
      '-n, --max-tokens <number>',
      'maximum tokens of the answer',
      parseWholeNumber(1),
    )
    .option(
      '-t, --temperature <number>',
      '0 to 2; 0 = always the most likely token',
      parseNumber(0, 2),
    )
    .option(
      '--seed <number>',
      'the same seed gives the same answer',
      parseWholeNumber(Number.MIN_SAFE_INTEGER),
    )
    .option('--stop <texts...>', 'end the answer before one of these texts')
    .option('--json', 'the answer is one JSON object')
    .addOption(
      new Option('--priority <class>', 'queue class').choices(['realtime', 'batch']),
    )
    .option('--timings', 'report the time per phase on stderr')
    .addHelpText('after', EXAMPLES)
    .action((prompt: string | undefined, options: ChatOptions) =>
      interruptible(signal => chat(prompt, options, signal)),
    );

async function chat(
  prompt: string | undefined,
  options: ChatOptions,
  signal: AbortSignal,
): Promise<void> {
  const client = new GatewayClient(options);
  const model = options.model ?? (await chatModel(client, signal));
  const { system, priority, timings } = options;
  const conversation = new Conversation(client, {
    ...{ model, fields: fieldsOf(options) },
    ...(system !== undefined && { system }),
    ...(priority !== undefined && { priority }),
    ...(timings && { timings }),
  });
  if (prompt !== undefined)
    return conversation.ask(prompt === '-' ? await textOf(stdin) : prompt, signal);
  if (stdin.isTTY) say(`Talking to ${model}. /clear starts over, /exit ends.`);
  await talk(conversation, signal);
}

interface ListedModel {
  readonly id: string;
  readonly root: string;
  readonly kind: string;
  readonly capabilities: readonly string[];
}

/**
 * Id of the first chat model of the gateway. @throws CliError exit code 2 when
 * there is none
 */
async function chatModel(client: GatewayClient, signal: AbortSignal): Promise<string> {
  const { data } = await client.json<{ readonly data: readonly ListedModel[] }>(
    '/v1/models',
    { signal },
  );
  const chatting = data.find(
    ({ id, root, capabilities }) => id === root && capabilities.includes('chat'),
  );
  if (chatting) return chatting.id;
  const hint = 'add a model of kind llm to config/models.yaml, or name one with --model';
  throw new CliError(`the gateway has no model that can chat; ${hint}`, EXIT.usage);
}

/**
 * A conversation, one question a line. A failed question is reported and the
 * conversation continues.
 */
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
  // Input from a pipe arrives at once and is closed before it is read: no prompt.
  const prompt = (): void => void (stdin.isTTY && lines.prompt());
  prompt();
  for await (const line of lines) {
    const said = line.trim();
    if (said === '/exit') break;
    if (said === '/clear') conversation.clear();
    else if (said !== '') await conversation.ask(said, signal).catch(report);
    prompt();
  }
  lines.close();
  signal.throwIfAborted();
}

/** From a pipe, the failure is also the exit code of the command. */
function report(error: unknown): void {
  if (!(error instanceof CliError)) throw error;
  say(`${MARKS.fail} ${error.message}`);
  if (!stdin.isTTY) process.exitCode = error.exitCode;
}

const fieldsOf = ({
  maxTokens,
  temperature,
  seed,
  stop,
  json,
}: ChatOptions): Readonly<Record<string, unknown>> => ({
  ...(maxTokens !== undefined && { max_completion_tokens: maxTokens }),
  ...(temperature !== undefined && { temperature }),
  ...(seed !== undefined && { seed }),
  ...(stop && { stop }),
  ...(json && { response_format: { type: 'json_object' } }),
});
