import { BATCH_ENDPOINTS } from '../core/jobs/batch-job.js';
import { parseWholeNumber } from './shared/arguments.js';
import {
  assertAnswered,
  download,
  hasEnded,
  printResults,
  reportEnd,
} from './batch-results.js';
import { rateText, watch } from './batch-progress.js';
import { batchSubmitCommand } from './batch-submit.js';
import { CliError } from './shared/cli-error.js';
import { command, commandGroup } from './shared/command.js';
import { durationText } from './shared/durations.js';
import { columns } from './shared/terminal.js';

const get = command({
  name: 'get',
  about: 'the batch as JSON',
  arg: ['<id>'],
  examples: ['batch get batch_1', 'batch get batch_1 | jq .request_counts'],
  gateway: true,
  run: ({ client, arg: id }) => client.call('get', '/v1/batches/{id}', { id }),
  text: batch => JSON.stringify(batch, null, 2),
});

const act = (name: 'cancel' | 'retry-failed', about: string) =>
  command({
    name,
    about,
    arg: ['<id>'],
    examples: [`batch ${name} batch_1`],
    gateway: true,
    run: ({ client, arg: id }) => client.call('post', `/v1/batches/{id}/${name}`, { id }),
    text: ({ id, status }) => `${id} ${status}`,
  });

const withFiles = (name: 'watch' | 'download', about: string) =>
  command({
    name,
    about,
    arg: ['<id>', 'id of the batch'],
    examples: [`batch ${name} batch_1`, `batch ${name} batch_1 -o night`],
    gateway: true,
    options: { '-o, --output <prefix>': 'PREFIX_output.jsonl, PREFIX_errors.jsonl' },
    json: 'the batch and the names of the files as one JSON document',
    async run({ client, signal, arg: id, options: { output, json } }) {
      let batch = await client.call('get', '/v1/batches/{id}', { id });
      if (name === 'watch') {
        batch = await watch(client, batch, signal);
        reportEnd(batch);
      } else if (!hasEnded(batch))
        throw new CliError(
          `${id} is ${batch.status}; results are available when it has ended`,
        );
      printResults(batch, await download(client, batch, output), json);
      if (name === 'watch') assertAnswered(batch);
    },
  });

const list = command({
  name: 'list',
  about: 'the newest batches',
  examples: ['batch list', 'batch list -n 5 --json'],
  gateway: true,
  options: {
    '-n, --limit <count>': ['how many, 1 to 100', parseWholeNumber(1, 100), 20],
  },
  run: ({ client, options: { limit } }) =>
    client.call('get', '/v1/batches', { query: { limit } }),
  text: ({ data }) =>
    columns([
      ['id', 'status', 'endpoint', 'lines', 'failures', 'rate', 'ETA'],
      ...data.map(({ request_counts: counts, ...batch }) => [
        batch.id,
        batch.status,
        batch.endpoint,
        `${counts.completed + counts.failed}/${counts.total}`,
        `${counts.failed} failed`,
        rateText(batch.rate_per_s),
        durationText(batch.eta_s),
      ]),
    ]),
});

export const batchCommand = commandGroup(
  'batch',
  `files of requests, run in the background (${BATCH_ENDPOINTS.length} endpoints)`,
  [
    batchSubmitCommand,
    list,
    get,
    withFiles(
      'watch',
      'show the progress and download the results; exit code 1 unless every line was answered',
    ),
    withFiles('download', 'download the result files'),
    act('cancel', 'cancel the batch; finished lines keep their results'),
    act('retry-failed', 'create a batch of the failed lines'),
  ],
);
