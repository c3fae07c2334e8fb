import { Command, Option } from 'commander';
import type { BatchDto, BatchListDto } from '../contracts/openai/batch.dto.js';
import { BATCH_ENDPOINTS } from '../core/jobs/batch-job.js';
import { parseWholeNumber } from './shared/arguments.js';
import {
  assertAnswered,
  BatchClient,
  download,
  hasEnded,
  printResults,
  reportEnd,
} from './batch-client.js';
import { rateText, watch } from './batch-progress.js';
import { batchSubmitCommand } from './batch-submit.js';
import { CliError, interruptible } from './shared/cli-error.js';
import { durationText } from './shared/durations.js';
import { examples } from './shared/examples.js';
import {
  GatewayClient,
  type GatewayClientOptions,
  withGatewayOptions,
} from './shared/gateway-client.js';
import { gatewayCommand, commandGroup, queryOf } from './shared/gateway-command.js';
import { columns } from './shared/terminal.js';

interface WatchOptions extends GatewayClientOptions {
  readonly output?: string;
  readonly json?: boolean;
}

type Work = (
  client: BatchClient,
  id: string,
  options: WatchOptions,
  signal: AbortSignal,
) => Promise<void>;

export const batchCommand = (): Command =>
  commandGroup(
    'batch',
    `files of requests, run in the background (${BATCH_ENDPOINTS.length} endpoints)`,
    [
      batchSubmitCommand(),
      listCommand(),
      getCommand(),
      withFiles(
        'watch',
        'show the progress and download the results; exit code 1 unless every line was answered',
        watchToEnd,
      ),
      withFiles('download', 'download the result files', fetchResults),
      actCommand('cancel', 'cancel the batch; finished lines keep their results'),
      actCommand('retry-failed', 'create a batch of the failed lines'),
    ],
  );

const pathOf = (id: string): string => `/v1/batches/${encodeURIComponent(id)}`;

const getCommand = (): Command =>
  gatewayCommand<BatchDto>({
    name: 'get',
    args: '<id>',
    about: 'the batch as JSON',
    examples: ['batch get batch_1', 'batch get batch_1 | jq .request_counts'],
    ask: (client, [id = '']) => client.json(pathOf(id)),
    text: batch => JSON.stringify(batch, null, 2),
  });

const actCommand = (name: 'cancel' | 'retry-failed', about: string): Command =>
  gatewayCommand<BatchDto>({
    ...{ name, args: '<id>', about },
    examples: [`batch ${name} batch_1`],
    ask: (client, [id = '']) => client.post(`${pathOf(id)}/${name}`),
    text: ({ id, status }) => `${id} ${status}`,
  });

function withFiles(name: string, description: string, work: Work): Command {
  return withGatewayOptions(new Command(name))
    .description(description)
    .argument('<id>', 'id of the batch')
    .option('-o, --output <prefix>', 'PREFIX_output.jsonl, PREFIX_errors.jsonl')
    .option('--json', 'the batch and the names of the files as one JSON document')
    .addHelpText(
      'after',
      examples([`batch ${name} batch_1`, `batch ${name} batch_1 -o night`]),
    )
    .action((id: string, options: WatchOptions) =>
      interruptible(signal =>
        work(new BatchClient(new GatewayClient(options), signal), id, options, signal),
      ),
    );
}

async function watchToEnd(
  ...[client, id, options, signal]: Parameters<Work>
): Promise<void> {
  const ended = await watch(client, await client.find(id), signal);
  reportEnd(ended);
  printResults(ended, await download(client, ended, options.output), options);
  assertAnswered(ended);
}

async function fetchResults(...[client, id, options]: Parameters<Work>): Promise<void> {
  const batch = await client.find(id);
  if (!hasEnded(batch))
    throw new CliError(
      `${id} is ${batch.status}; results are available when it has ended`,
    );
  printResults(batch, await download(client, batch, options.output), options);
}

const listCommand = (): Command =>
  gatewayCommand<BatchListDto>({
    name: 'list',
    about: 'the newest batches',
    examples: ['batch list', 'batch list -n 5 --json'],
    options: [
      new Option('-n, --limit <count>', 'how many, 1 to 100')
        .argParser(parseWholeNumber(1, 100))
        .default(20),
    ],
    ask: (client, _, options) => client.json(`/v1/batches${queryOf(options, ['limit'])}`),
    text: ({ data }) => table(data),
  });

function table(batches: readonly BatchDto[]): string {
  const rows = batches.map(
    ({
      id,
      status,
      endpoint,
      request_counts: { total, completed, failed },
      ...batch
    }) => [
      ...[id, status, endpoint, `${completed + failed}/${total}`, `${failed} failed`],
      ...[rateText(batch.rate_per_s), durationText(batch.eta_s)],
    ],
  );
  return columns([
    ['id', 'status', 'endpoint', 'lines', 'failures', 'rate', 'ETA'],
    ...rows,
  ]);
}
