import { parseWholeNumber } from '../shared/arguments.js';
import { CliError } from '../shared/cli-error.js';
import { gatewayCommand, type OptionValues } from '../shared/command.js';
import { type GatewayClient } from '../shared/gateway-client.js';
import { type ServedModel, speechBody, speechForm } from '../shared/model-samples.js';
import { columns, print, printJson, ProgressLine, msText } from '../shared/terminal.js';

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
  readonly body: () => object | Promise<object>;
  readonly amount: (response: Response) => Promise<number>;
}

const OPTIONS = {
  '-c, --callers <number>': ['requests at a time', parseWholeNumber(1, 256), 4],
  '-n, --requests <number>': ['requests in all', parseWholeNumber(1, 100_000), 20],
  '--audio <file>': 'stt: this file (default: 24 s of English)',
  '--text <text>': [
    'tts, llm, embedding: this text',
    undefined,
    'Every request has a place in the queue.',
  ],
  '--priority <class>': ['queue class', ['realtime', 'batch'], 'realtime'],
} as const;

type Options = OptionValues<typeof OPTIONS>;

export const benchCommand = gatewayCommand('bench <model>', {
  about: 'a small load on one model of a running gateway: latency, throughput and grouping',
  arg: 'model or alias',
  examples: [
    'bench whisper-1',
    'bench whisper-1 --callers 16 --requests 200',
    'bench qwen3-8b --text "Three fruits."',
  ],
  notes:
    'It loads the gateway for real, beside the requests of others. Exit code 1: a request failed.',
  options: OPTIONS,
  json: true,
  async run({ client, signal, arg, options }) {
    const { callers, requests, json } = options;
    const served = await client.call('get', '/v1/models/{id}', { id: arg });
    const load = LOADS[served.kind](served, options);
    const fromMs = performance.now();
    const { samples, failures } = await ran(client, load, options, signal);
    const seconds = (performance.now() - fromMs) / 1000;
    const report = reportOf(samples, seconds, load.unit);
    const { root: model } = served;
    if (json) printJson({ model, callers, failed: failures.length, ...report });
    else print(textOf(model, report));
    if (failures.length > 0)
      throw new CliError(
        `${failures.length} of ${requests} requests failed: ${failures[0]!.message}`,
      );
  },
});

/** Callers side by side, each with one request at a time, until all are made. */
async function ran(
  client: GatewayClient,
  load: Load,
  { callers, requests, priority }: Options,
  signal: AbortSignal,
) {
  using progress = new ProgressLine();
  const samples: Sample[] = [];
  const failures: CliError[] = [];
  let left = requests;
  const caller = async () => {
    while (left-- > 0) {
      try {
        samples.push(await sampleOf(client, load, priority));
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof CliError)) throw error;
        failures.push(error);
      }
      if (process.stderr.isTTY) progress.show(`${samples.length + failures.length} of ${requests}`);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { samples, failures };
}

async function sampleOf(client: GatewayClient, load: Load, priority: string): Promise<Sample> {
  const body = await load.body();
  const fromMs = performance.now();
  const headers = { 'x-priority': priority };
  const response = await client.request('post', load.path, { body, headers });
  const group = Number(response.headers.get('x-switchyard-batch-size') ?? 1);
  const amount = await load.amount(response);
  return { amount, ms: performance.now() - fromMs, group };
}

const LOADS: Readonly<Record<ServedModel['kind'], (model: ServedModel, options: Options) => Load>> =
  {
    stt: (model, { audio }) => ({
      unit: 's of audio',
      path: '/v1/audio/transcriptions',
      body: () => speechForm(model, audio),
      amount: async response => ((await response.json()) as { duration?: number }).duration ?? 0,
    }),
    tts: (model, { text }) => ({
      unit: 's of audio',
      path: '/v1/audio/speech',
      body: () => speechBody(model, text, 'pcm'),
      // Samples of 16 bit at 24 kHz.
      amount: async response => (await response.bytes()).length / 48_000,
    }),
    llm: ({ root: model }, { text: content }) => ({
      unit: 'tokens',
      path: '/v1/chat/completions',
      body: () => ({ model, messages: [{ role: 'user', content }] }),
      amount: async response => {
        const { usage } = (await response.json()) as {
          usage: { completion_tokens?: number };
        };
        return usage.completion_tokens ?? 0;
      },
    }),
    embedding: ({ root: model }, { text: input }) => ({
      unit: 'texts',
      path: '/v1/embeddings',
      body: () => ({ model, input }),
      amount: async response => (await response.bytes(), 1),
    }),
  };

function reportOf(samples: readonly Sample[], seconds: number, unit: string) {
  const times = samples.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number) =>
    times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0;
  const sum = (field: 'amount' | 'group') =>
    samples.reduce((total, sample) => total + sample[field], 0);
  return {
    answered: samples.length,
    seconds,
    requests_per_s: samples.length / seconds,
    unit,
    per_s: sum('amount') / seconds,
    mean_group: sum('group') / Math.max(1, samples.length),
    p50_ms: at(0.5),
    p90_ms: at(0.9),
    p99_ms: at(0.99),
  };
}

const HEAD = ['model', 'answered', 'p50', 'p90', 'p99', 'requests/s'];

const textOf = (model: string, report: ReturnType<typeof reportOf>) =>
  columns([
    [...HEAD, `${report.unit}/s`, 'requests per engine call'],
    [
      model,
      report.answered,
      msText(report.p50_ms),
      msText(report.p90_ms),
      msText(report.p99_ms),
      report.requests_per_s.toFixed(2),
      report.per_s.toFixed(2),
      report.mean_group.toFixed(2),
    ],
  ]);
