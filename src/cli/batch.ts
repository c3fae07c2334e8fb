import { Command, Option } from 'commander';
import type { BatchDto } from '../contracts/openai/batch.dto.js';
import { BATCH_ENDPOINTS } from '../core/jobs/batch-job.js';
import { parseWholeNumber } from './shared/arguments.js';
import { assertAnswered, BatchClient, download, hasEnded, reportEnd } from './batch-client.js';
import { durationText, rateText, watch } from './batch-progress.js';
import { batchSubmitCommand } from './batch-submit.js';
import { CliError, interruptible } from './shared/cli-error.js';
import { GatewayClient, type GatewayClientOptions, withGatewayOptions } from './shared/gateway-client.js';
import { columns, print, printJson } from './shared/terminal.js';

interface WatchOptions extends GatewayClientOptions {
  readonly watch?: boolean;
  readonly output?: string;
  readonly limit: number;
  readonly json?: boolean;
}

type Work = (client: BatchClient, id: string, options: WatchOptions, signal: AbortSignal) => Promise<void>;

export const batchCommand = (): Command =>
  new Command('batch')
    .description(`files of requests, run in the background (${BATCH_ENDPOINTS.length} endpoints)`)
    .addCommand(batchSubmitCommand())
    .addCommand(listCommand())
    .addCommand(one('get', 'the batch as JSON', async (client, id) => printJson(await client.find(id))))
    .addCommand(
      one(
        'watch',
        'show the progress and download the results; exit code 1 unless every line was answered',
        watchToEnd,
      ).addOption(output()),
    )
    .addCommand(one('download', 'download the result files', fetchResults).addOption(output()))
    .addCommand(
      one('cancel', 'cancel the batch; finished lines keep their results', async (client, id) =>
        printState(await client.act(id, 'cancel')),
      ),
    )
    .addCommand(
      one('retry-failed', 'create a batch of the failed lines', async (client, id) =>
        printState(await client.act(id, 'retry-failed')),
      ),
    );

const output = (): Option => new Option('-o, --output <prefix>', 'PREFIX_output.jsonl, PREFIX_errors.jsonl');

function one(name: string, description: string, work: Work): Command {
  return withGatewayOptions(new Command(name))
    .description(description)
    .argument('<id>', 'id of the batch')
    .action((id: string, options: WatchOptions) =>
      interruptible(signal => work(new BatchClient(new GatewayClient(options), signal), id, options, signal)),
    );
}

async function watchToEnd(...[client, id, { output: prefix }, signal]: Parameters<Work>): Promise<void> {
  const ended = await watch(client, await client.find(id), signal);
  reportEnd(ended);
  await download(client, ended, prefix);
  assertAnswered(ended);
}

async function fetchResults(...[client, id, { output: prefix }]: Parameters<Work>): Promise<void> {
  const batch = await client.find(id);
  if (!hasEnded(batch)) throw new CliError(`${id} is ${batch.status}; results are available when it has ended`);
  await download(client, batch, prefix);
}

const printState = ({ id, status }: BatchDto): void => print(`${id} ${status}`);

const listCommand = (): Command =>
  withGatewayOptions(new Command('list'))
    .description('the newest batches')
    .option('-n, --limit <count>', 'how many, 1 to 100', parseWholeNumber(1, 100), 20)
    .option('--json', 'one JSON document, as the API returns it')
    .action(async ({ limit, json, ...options }: WatchOptions) => {
      const page = await new BatchClient(new GatewayClient(options)).list(limit);
      if (json) printJson(page);
      else print(table(page.data));
    });

function table(batches: readonly BatchDto[]): string {
  const rows = batches.map(({ id, status, endpoint, request_counts: { total, completed, failed }, ...batch }) => [
    ...[id, status, endpoint, `${completed + failed}/${total}`, `${failed} failed`],
    ...[rateText(batch.rate_per_s), durationText(batch.eta_s)],
  ]);
  return columns([['id', 'status', 'endpoint', 'lines', 'failures', 'rate', 'ETA'], ...rows]);
}
