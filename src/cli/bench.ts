import { openAsBlob } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command, Option } from 'commander';
import { type ModelKind } from '../platform/config/model-spec.js';
import { fileBlob, parseWholeNumber } from './shared/arguments.js';
import { CliError, interruptible } from './shared/cli-error.js';
import { msText } from './shared/durations.js';
import { examples } from './shared/examples.js';
import {
  GatewayClient,
  type GatewayClientOptions,
  type GatewayRequest,
  withGatewayOptions,
} from './shared/gateway-client.js';
import { columns, print, printJson, ProgressLine } from './shared/terminal.js';

interface BenchOptions extends GatewayClientOptions {
  readonly callers: number;
  readonly requests: number;
  readonly audio?: string;
  readonly text: string;
  readonly priority: string;
  readonly json?: boolean;
}

interface Served {
  readonly root: string;
  readonly kind: ModelKind;
  readonly voices: readonly string[];
}

/** One answered request. */
interface Sample {
  readonly ms: number;
  /** Seconds of audio, tokens or texts. */
  readonly amount: number;
  /** Requests in its engine call, as the gateway reports them. */
  readonly group: number;
}

/** How one kind of model is asked, and how much an answer is. */
interface Load {
  readonly unit: string;
  readonly path: string;
  readonly request: () => Promise<Pick<GatewayRequest, 'body' | 'headers'>>;
  readonly amount: (response: Response) => Promise<number>;
}

const SPEECH = fileURLToPath(new URL('../../config/verify-speech.ogg', import.meta.url));

export const benchCommand = (): Command =>
  withGatewayOptions(new Command('bench'))
    .description(
      'a small load on one model of a running gateway: latency, throughput and grouping',
    )
    .argument('<model>', 'model or alias')
    .option('-c, --callers <number>', 'requests at a time', parseWholeNumber(1, 256), 4)
    .option(
      '-n, --requests <number>',
      'requests in all',
      parseWholeNumber(1, 100_000),
      20,
    )
    .option('--audio <file>', 'stt: this file (default: 24 s of English)')
    .option(
      '--text <text>',
      'tts, llm, embedding: this text',
      'Every request has a place in the queue.',
    )
    .addOption(
      new Option('--priority <class>', 'queue class')
        .choices(['realtime', 'batch'])
        .default('realtime'),
    )
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      examples(
        [
          'bench whisper-1',
          'bench whisper-1 --callers 16 --requests 200',
          'bench qwen3-8b --text "Three fruits."',
        ],
        'It loads the gateway for real, beside the requests of others. Exit code 1: a request failed.',
      ),
    )
    .action((model: string, options: BenchOptions) =>
      interruptible(signal => bench(model, options, signal)),
    );

async function bench(
  name: string,
  options: BenchOptions,
  signal: AbortSignal,
): Promise<void> {
  const client = new GatewayClient(options);
  const model = await client.json<Served>(`/v1/models/${encodeURIComponent(name)}`, {
    signal,
  });
  const load = LOADS[model.kind](model, options);
  const progress = new ProgressLine();
  const samples: Sample[] = [];
  const failures: CliError[] = [];
  let left = options.requests;
  const caller = async (): Promise<void> => {
    while (left-- > 0) {
      await sampleOf(client, load, { priority: options.priority, signal }).then(
        sample => samples.push(sample),
        (error: unknown) => failures.push(failureOf(error, signal)),
      );
      if (process.stderr.isTTY)
        progress.show(`${samples.length + failures.length} of ${options.requests}`);
    }
  };
  const from = performance.now();
  await Promise.all(Array.from({ length: options.callers }, caller)).finally(() =>
    progress.clear(),
  );
  const report = reportOf(samples, {
    seconds: (performance.now() - from) / 1000,
    unit: load.unit,
  });
  if (options.json)
    printJson({
      model: model.root,
      callers: options.callers,
      failed: failures.length,
      ...report,
    });
  else print(textOf(model.root, report));
  if (failures.length > 0)
    throw new CliError(
      `${failures.length} of ${options.requests} requests failed: ${failures[0]!.message}`,
    );
}

async function sampleOf(
  client: GatewayClient,
  { path, request, amount }: Load,
  { priority, signal }: { readonly priority: string; readonly signal: AbortSignal },
): Promise<Sample> {
  const { body, headers } = await request();
  const from = performance.now();
  const response = await client.request(path, {
    ...{ method: 'POST', body, signal },
    headers: { ...headers, 'x-priority': priority },
  });
  const group = Number(response.headers.get('x-switchyard-batch-size') ?? 1);
  return { amount: await amount(response), ms: performance.now() - from, group };
}

function failureOf(error: unknown, signal: AbortSignal): CliError {
  signal.throwIfAborted();
  if (error instanceof CliError) return error;
  throw error;
}

const json = (body: object) => () =>
  Promise.resolve({
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });

const usageOf = async (response: Response): Promise<{ completion_tokens?: number }> =>
  ((await response.json()) as { usage: { completion_tokens?: number } }).usage;

const LOADS: Readonly<Record<ModelKind, (model: Served, options: BenchOptions) => Load>> =
  {
    stt: ({ root }, { audio }) => ({
      unit: 's of audio',
      path: '/v1/audio/transcriptions',
      request: async () => {
        const body = new FormData();
        body.set('model', root);
        body.set('response_format', 'verbose_json');
        body.set(
          'file',
          audio === undefined ? await openAsBlob(SPEECH) : await fileBlob(audio),
          'clip',
        );
        return { body };
      },
      amount: async response =>
        ((await response.json()) as { duration?: number }).duration ?? 0,
    }),
    tts: ({ root, voices }, { text }) => ({
      unit: 's of audio',
      path: '/v1/audio/speech',
      request: json({
        model: root,
        input: text,
        voice: voices[0] ?? 'alloy',
        response_format: 'pcm',
      }),
      // Samples of 16 bit at 24 kHz.
      amount: async response => (await response.bytes()).length / 48_000,
    }),
    llm: ({ root }, { text }) => ({
      unit: 'tokens',
      path: '/v1/chat/completions',
      request: json({ model: root, messages: [{ role: 'user', content: text }] }),
      amount: async response => (await usageOf(response)).completion_tokens ?? 0,
    }),
    embedding: ({ root }, { text }) => ({
      unit: 'texts',
      path: '/v1/embeddings',
      request: json({ model: root, input: text }),
      amount: async response => (await response.bytes(), 1),
    }),
  };

function reportOf(
  samples: readonly Sample[],
  { seconds, unit }: { seconds: number; unit: string },
) {
  const times = samples.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0;
  const sum = (field: 'amount' | 'group'): number =>
    samples.reduce((total, sample) => total + sample[field], 0);
  return {
    ...{ answered: samples.length, seconds, requests_per_s: samples.length / seconds },
    ...{
      unit,
      per_s: sum('amount') / seconds,
      mean_group: sum('group') / Math.max(1, samples.length),
    },
    ...{ p50_ms: at(0.5), p90_ms: at(0.9), p99_ms: at(0.99) },
  };
}

const textOf = (model: string, report: ReturnType<typeof reportOf>): string =>
  columns([
    [
      'model',
      'answered',
      'p50',
      'p90',
      'p99',
      'requests/s',
      `${report.unit}/s`,
      'requests per engine call',
    ],
    [
      ...[
        model,
        String(report.answered),
        ...[report.p50_ms, report.p90_ms, report.p99_ms].map(msText),
      ],
      ...[report.requests_per_s, report.per_s, report.mean_group].map(value =>
        value.toFixed(2),
      ),
    ],
  ]);
