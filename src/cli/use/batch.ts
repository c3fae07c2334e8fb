import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { stderr } from 'node:process';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { SingleBar } from 'cli-progress';
import { BATCH_ENDPOINTS } from '../../core/jobs/batch-job.js';
import { isTerminal } from '../../core/jobs/batch-status.js';
import { COMPLETION_WINDOWS } from '../../core/jobs/completion-window.js';
import {
  parseWholeNumber,
  fileBlob,
  namedValue,
  readablePath,
  repeatable,
  writablePath,
} from '../shared/arguments.js';
import { CliError, usageError } from '../shared/cli-error.js';
import { gatewayCommand, commandGroup, oneRequest } from '../shared/command.js';
import type { GatewayClient, GatewayAnswer } from '../shared/gateway-client.js';
import {
  table,
  print,
  say,
  MARKS,
  printJson,
  ProgressLine,
  durationText,
} from '../shared/terminal.js';

type Batch = GatewayAnswer<'/v1/batches/{id}'>;

const hasEnded = ({ status }: Batch) => isTerminal(status);

/**
 * Writes the result files of a batch, `PREFIX_output.jsonl` and `PREFIX_errors.jsonl`,
 * whichever there are.
 * @returns their names. @throws CliError when there is neither
 */
async function download(
  client: GatewayClient,
  batch: Batch,
  prefix = batch.id,
): Promise<readonly string[]> {
  const files = [];
  for (const [id, path] of [
    [batch.output_file_id, `${prefix}_output.jsonl`],
    [batch.error_file_id, `${prefix}_errors.jsonl`],
  ] as const) {
    if (id === null) continue;
    const target = await writablePath(path);
    await save(await client.request('get', '/v1/files/{id}/content', { id }), target);
    files.push(path);
  }
  if (files.length > 0) return files;
  throw new CliError(`${batch.id} is ${batch.status} and has no result files`);
}

/** The names of the files that were written; with `--json`, the batch with them. */
function printResults(batch: Batch, files: readonly string[], json: boolean | undefined) {
  if (json) printJson({ batch, files });
  else if (files.length > 0) print(files.join('\n'));
}

/** Saves an answer as a file, which appears only when it is complete. */
async function save(response: Response, path: string) {
  const draft = `${path}.part`;
  try {
    await pipeline(Readable.fromWeb(response.body!), createWriteStream(draft));
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** @throws CliError unless the batch completed and every line was answered */
function assertAnswered({ id, status, request_counts: counts }: Batch) {
  if (status !== 'completed' || counts.completed < counts.total)
    throw new CliError(`${id}: not every line was answered`);
}

/** Reports how a batch ended, with the errors of one that failed. */
function reportEnd({ id, status, request_counts: counts, errors }: Batch) {
  const done = counts.failed > 0 ? MARKS.warn : MARKS.ok;
  say(
    `${status === 'completed' ? done : MARKS.fail} ${id} ${status}: ${counts.completed} of ${counts.total} done, ${counts.failed} failed`,
  );
  for (const { line, code, message } of errors?.data ?? [])
    say(`  ${line === null ? '' : `line ${line}: `}${message} [${code}]`);
}

const POLL_MS = 500;
const BAR =
  ' {bar} {percentage}% | {value}/{total} lines | {failed} failed | {rate} | ETA {remaining} | {status}';

/**
 * Watches a batch to its end: a bar on a terminal, a line per change elsewhere. Ctrl-C
 * ends the watching, not the batch.
 */
async function watch(client: GatewayClient, first: Batch, signal: AbortSignal) {
  using progress = startProgress();
  for (let batch = first; ;) {
    progress.show(batch);
    if (hasEnded(batch)) return batch;
    await sleep(POLL_MS, undefined, { signal });
    batch = await client.call('get', '/v1/batches/{id}', { id: batch.id });
  }
}

/** A rate as text, such as 0.42 or 12.3 lines/s; a dash while unknown. */
const rateText = (rate: number | null) =>
  rate === null ? '-' : `${Number(rate.toPrecision(3))} lines/s`;

function startProgress() {
  const line = new ProgressLine();
  const options = {
    format: BAR,
    hideCursor: true,
    clearOnComplete: true,
    stream: stderr,
  };
  const bar = new SingleBar(options);
  const show = ({ request_counts: counts, status, rate_per_s, eta_s }: Batch) => {
    const { total, failed } = counts;
    const done = counts.completed + failed;
    const [rate, remaining] = [rateText(rate_per_s), durationText(eta_s)];
    if (!stderr.isTTY) {
      const pace = status === 'in_progress' ? `, ${rate}, ETA ${remaining}` : '';
      line.show(`${status}: ${done}/${total} lines, ${failed} failed${pace}`);
    } else if (total > 0) {
      // While the number of lines is not known, an empty bar would be full.
      const words = { failed, status, rate, remaining };
      if (!bar.isActive) bar.start(total, 0, words);
      bar.setTotal(total);
      bar.update(done, words);
    }
  };
  return {
    show,
    [Symbol.dispose]() {
      bar.stop();
      line.clear();
    },
  };
}

const HELP = `
Examples:
  switchyard batch submit lines.jsonl --watch
  switchyard batch submit lines.jsonl --window 30m --metadata validation=lenient

With --watch the results are downloaded at the end, and the exit code is 1 unless every line was answered. Ctrl-C stops
watching; the batch continues, and "switchyard batch watch ID" watches it again.`;

const batchSubmitCommand = gatewayCommand('submit <file>', {
  about: 'upload a file of requests, one JSON per line, and run it',
  arg: 'JSONL: {"custom_id", "method": "POST", "url", "body"}',
  help: HELP,
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
async function uploaded(client: GatewayClient, file: string) {
  const form = new FormData();
  form.set('purpose', 'batch');
  form.set('file', await fileBlob(file), basename(file));
  return (await client.call('post', '/v1/files', { body: form })).id;
}

/**
 * The endpoint of the first line; all lines must name the same one. @throws CliError exit
 * code 2 when it names none
 */
async function endpointIn(file: string) {
  const url = urlOf(await firstLine(await readablePath(file)));
  const endpoint = BATCH_ENDPOINTS.find(known => known === url);
  if (endpoint) return endpoint;
  const message = `the first line of ${file} has no \`url\` that a batch can go to; name the endpoint with --endpoint`;
  throw usageError(message);
}

async function firstLine(path: string) {
  const input = createReadStream(path, 'utf8');
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    input.destroy();
    return line.replace(/^\uFEFF/, '');
  }
  return '';
}

function urlOf(line: string) {
  try {
    return (parseBoundedJson(line) as { url?: unknown } | null)?.url;
  } catch {
    return undefined;
  }
}

const get = gatewayCommand('get <id>', {
  about: 'the batch as JSON',
  examples: ['batch get batch_1', 'batch get batch_1 | jq .request_counts'],
  ...oneRequest('get', '/v1/batches/{id}'),
  text: batch => writeJson(batch, 2),
});

const act = (name: 'cancel' | 'retry-failed', about: string) =>
  gatewayCommand(`${name} <id>`, {
    about,
    examples: [`batch ${name} batch_1`],
    ...oneRequest('post', `/v1/batches/{id}/${name}`),
    text: ({ id, status }) => `${id} ${status}`,
  });

const withFiles = (name: 'watch' | 'download', about: string) =>
  gatewayCommand(`${name} <id>`, {
    about,
    arg: 'id of the batch',
    examples: [`batch ${name} batch_1`, `batch ${name} batch_1 -o night`],
    options: { '-o, --output <prefix>': 'PREFIX_output.jsonl, PREFIX_errors.jsonl' },
    json: 'the batch and the names of the files as one JSON document',
    async run({ client, signal, arg: id, options: { output, json } }) {
      let batch = await client.call('get', '/v1/batches/{id}', { id });
      if (name === 'watch') {
        batch = await watch(client, batch, signal);
        reportEnd(batch);
      } else if (!hasEnded(batch))
        throw new CliError(`${id} is ${batch.status}; results are available when it has ended`);
      printResults(batch, await download(client, batch, output), json);
      if (name === 'watch') assertAnswered(batch);
    },
  });

const list = gatewayCommand('list', {
  about: 'the newest batches',
  examples: ['batch list', 'batch list -n 5 --json'],
  options: {
    '-n, --limit <count>': ['how many, 1 to 100', parseWholeNumber(1, 100), 20],
  },
  ...oneRequest('get', '/v1/batches', 'limit'),
  text: ({ data }) =>
    table(
      ['id', 'status', 'endpoint', 'lines', 'failures', 'rate', 'ETA'],
      data,
      ({ request_counts: counts, ...batch }) => [
        batch.id,
        batch.status,
        batch.endpoint,
        `${counts.completed + counts.failed}/${counts.total}`,
        `${counts.failed} failed`,
        rateText(batch.rate_per_s),
        durationText(batch.eta_s),
      ],
    ),
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
