import { BATCH_ENDPOINTS, type BatchEndpoint } from '../core/jobs/batch-job.js';
import {
  parseWholeNumber,
  fileBlob,
  namedValue,
  readablePath,
  repeatable,
} from './shared/arguments.js';
import {
  assertAnswered,
  download,
  hasEnded,
  printResults,
  reportEnd,
} from './batch-results.js';
import { rateText, watch } from './batch-progress.js';
import { CliError, EXIT } from './shared/cli-error.js';
import { command, commandGroup } from './shared/command.js';
import { durationText } from './shared/durations.js';
import { columns, print, say } from './shared/terminal.js';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { COMPLETION_WINDOWS } from '../core/jobs/completion-window.js';
import { type GatewayClient } from './shared/gateway-client.js';

const HELP = `
Examples:
  switchyard batch submit lines.jsonl --watch
  switchyard batch submit lines.jsonl --window 30m --metadata validation=lenient

With --watch the results are downloaded at the end, and the exit code is 1 unless every line was answered. Ctrl-C stops
watching; the batch continues, and "switchyard batch watch ID" watches it again.`;

const batchSubmitCommand = command({
  name: 'submit',
  about: 'upload a file of requests, one JSON per line, and run it',
  arg: ['<file>', 'JSONL: {"custom_id", "method": "POST", "url", "body"}'],
  help: HELP,
  gateway: true,
  options: {
    '-e, --endpoint <path>': [
      'where every line goes (default: the url of the first)',
      BATCH_ENDPOINTS,
    ],
    '-w, --window <time>': [COMPLETION_WINDOWS, undefined, '24h'],
    '--metadata <name=value>': repeatable('stored with the batch'),
    '--webhook <url>': 'receives a POST when the batch ends',
    '--watch': 'show its progress and download the results',
    '-o, --output <prefix>':
      'with --watch: PREFIX_output.jsonl, PREFIX_errors.jsonl (default: the id)',
  },
  json: 'the batch and, with --watch, the names of the files as one JSON document',
  async run({ client, signal, arg: file, options }) {
    const { json, webhook: url } = options;
    const metadata = Object.fromEntries(
      options.metadata.map(pair => namedValue('--metadata', pair)),
    );
    const endpoint = options.endpoint ?? (await endpointIn(file));
    const batch = await client.call('post', '/v1/batches', {
      body: {
        input_file_id: await uploaded(client, file),
        endpoint,
        completion_window: options.window,
        metadata,
        webhook: url === undefined ? undefined : { url },
      },
    });
    if (!options.watch) return json ? printResults(batch, [], json) : print(batch.id);
    say(batch.id);
    const ended = await watch(client, batch, signal);
    reportEnd(ended);
    const hasFiles = (ended.output_file_id ?? ended.error_file_id) !== null;
    const files = hasFiles ? await download(client, ended, options.output) : [];
    printResults(ended, files, json);
    assertAnswered(ended);
  },
});

/** @returns its id. @throws CliError when the file cannot be read, or is refused */
async function uploaded(client: GatewayClient, file: string): Promise<string> {
  const form = new FormData();
  form.set('purpose', 'batch');
  form.set('file', await fileBlob(file), basename(file));
  return (await client.call('post', '/v1/files', { body: form })).id;
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
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    input.destroy();
    return line.replace(/^\uFEFF/, '');
  }
  return '';
}

function urlOf(line: string): unknown {
  try {
    return (JSON.parse(line) as { url?: unknown } | null)?.url;
  } catch {
    return undefined;
  }
}

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
