import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Command, Option } from 'commander';
import { BATCH_ENDPOINTS, type BatchEndpoint } from '../core/jobs/batch-job.js';
import { COMPLETION_WINDOWS } from '../core/jobs/completion-window.js';
import { namedValue, readablePath, repeatable } from './shared/arguments.js';
import {
  assertAnswered,
  BatchClient,
  download,
  printResults,
  reportEnd,
} from './batch-client.js';
import { watch } from './batch-progress.js';
import { CliError, EXIT, interruptible } from './shared/cli-error.js';
import {
  GatewayClient,
  type GatewayClientOptions,
  withGatewayOptions,
} from './shared/gateway-client.js';
import { print, say } from './shared/terminal.js';

interface SubmitOptions extends GatewayClientOptions {
  readonly endpoint?: string;
  readonly window: string;
  readonly watch?: boolean;
  readonly output?: string;
  readonly metadata: readonly string[];
  readonly webhook?: string;
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  switchyard batch submit lines.jsonl --watch
  switchyard batch submit lines.jsonl --window 30m --metadata validation=lenient

With --watch the results are downloaded at the end, and the exit code is 1 unless every line was answered. Ctrl-C stops
watching; the batch continues, and "switchyard batch watch ID" watches it again.`;

export const batchSubmitCommand = (): Command =>
  withGatewayOptions(new Command('submit'))
    .description('upload a file of requests, one JSON per line, and run it')
    .argument('<file>', 'JSONL: {"custom_id", "method": "POST", "url", "body"}')
    .addOption(
      new Option(
        '-e, --endpoint <path>',
        'where every line goes (default: the url of the first)',
      ).choices(BATCH_ENDPOINTS),
    )
    .option('-w, --window <time>', COMPLETION_WINDOWS, '24h')
    .addOption(repeatable('--metadata <name=value>', 'stored with the batch'))
    .option('--webhook <url>', 'receives a POST when the batch ends')
    .option('--watch', 'show its progress and download the results')
    .option(
      '-o, --output <prefix>',
      'with --watch: PREFIX_output.jsonl, PREFIX_errors.jsonl (default: the id)',
    )
    .option(
      '--json',
      'the batch and, with --watch, the names of the files as one JSON document',
    )
    .addHelpText('after', EXAMPLES)
    .action((file: string, options: SubmitOptions) =>
      interruptible(signal => submit(file, options, signal)),
    );

async function submit(
  file: string,
  options: SubmitOptions,
  signal: AbortSignal,
): Promise<void> {
  const client = new BatchClient(new GatewayClient(options), signal);
  const metadata = Object.fromEntries(
    options.metadata.map(pair => namedValue('--metadata', pair)),
  );
  const endpoint = options.endpoint ?? (await endpointIn(file));
  const { id: input } = await client.upload(file);
  const batch = await client.create({
    ...{ input_file_id: input, endpoint, completion_window: options.window, metadata },
    ...(options.webhook === undefined ? {} : { webhook: { url: options.webhook } }),
  });
  if (!options.watch)
    return options.json ? printResults(batch, [], options) : print(batch.id);
  say(batch.id);
  const ended = await watch(client, batch, signal);
  reportEnd(ended);
  const hasFiles = (ended.output_file_id ?? ended.error_file_id) !== null;
  printResults(
    ended,
    hasFiles ? await download(client, ended, options.output) : [],
    options,
  );
  assertAnswered(ended);
}

/**
 * The endpoint of the first line; all lines must name the same one. @throws CliError exit
 * code 2 when it names none
 */
async function endpointIn(file: string): Promise<BatchEndpoint> {
  const url = urlOf(await firstLine(await readablePath(file)));
  const endpoint = BATCH_ENDPOINTS.find(known => known === url);
  if (endpoint) return endpoint;
  const message = `the first line of ${file} has no \`url\` that a batch can go to; name the endpoint with --endpoint`;
  throw new CliError(message, EXIT.usage);
}

async function firstLine(path: string): Promise<string> {
  const input = createReadStream(path, 'utf8');
  try {
    for await (const line of createInterface({ input, crlfDelay: Infinity }))
      return line.replace(/^\uFEFF/, '');
    return '';
  } finally {
    input.destroy();
  }
}

function urlOf(line: string): unknown {
  try {
    return (JSON.parse(line) as { url?: unknown } | null)?.url;
  } catch {
    return undefined;
  }
}
