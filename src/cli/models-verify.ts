import { openAsBlob, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { editDistance } from '@switchyard/engine-api/nearest-name.js';
import { type ModelKind } from '../platform/config/model-spec.js';
import { fileBlob } from './shared/arguments.js';
import { CliError, EXIT, interruptible } from './shared/cli-error.js';
import { examples } from './shared/examples.js';
import {
  GatewayClient,
  type GatewayClientOptions,
  withGatewayOptions,
} from './shared/gateway-client.js';
import { byteText } from './hub/disk-space.js';
import { print, printJson, say } from './shared/terminal.js';

interface VerifyOptions extends GatewayClientOptions {
  readonly audio?: string;
  readonly text?: string;
  readonly json?: boolean;
}

interface Verdict {
  readonly accuracy: string;
  readonly speed: string;
}

interface Served {
  readonly root: string;
  readonly kind: ModelKind;
  readonly voices: readonly string[];
}

interface WorkerAnswer {
  readonly model: string;
  readonly pid?: number;
  readonly device?: string;
  readonly health?: { readonly engine?: string; readonly revision?: string };
}

/**
 * Speech of the default synthesiser, 24 s: every recogniser hears the same,
 * on every machine.
 */
const SPEECH = fileURLToPath(new URL('../../config/verify-speech.ogg', import.meta.url));
const SPOKEN =
  'The train to the north leaves from the second platform. ' +
  'A switchyard groups cars into trains and puts each train on the right track. ' +
  'Please bring a warm coat, because the evening will be cold and windy. ' +
  'My brother bought seven red apples and a loaf of bread at the market. ' +
  'The doctor said that a short walk every morning is good for the heart.';

/** Question → what a right answer contains. */
const QUESTIONS: readonly (readonly [question: string, answer: RegExp])[] = [
  ['What is 17 + 25? Answer with the number only.', /\b42\b/],
  ['What is the capital of France? Answer with one word.', /paris/i],
  ['Write the word "switch" backwards. Answer with that word only.', /hctiws/i],
  [
    'Which is heavier: a kilogram of iron or two kilograms of wool? Answer with one word.',
    /wool/i,
  ],
  [
    'Translate "good morning" into German. Answer with the translation only.',
    /guten morgen/i,
  ],
];

/** Two sentences of one meaning, and one of another. */
const LIKENESSES = [
  [
    'The cat sleeps on the sofa.',
    'A kitten is napping on the couch.',
    'Interest rates rose again in March.',
  ],
  [
    'How do I reset my password?',
    'I forgot my login and need a new one.',
    'The recipe needs two eggs and some flour.',
  ],
  [
    'The train was cancelled.',
    'There is no train today.',
    'The painting hangs in the museum.',
  ],
] as const;

const NOTES =
  'The row fits the table "Runs" of docs/reference/models.md. One request runs at a time.';

export const modelsVerifyCommand = (): Command =>
  withGatewayOptions(new Command('verify'))
    .description(
      'run known audio or prompts through a model; prints accuracy, speed and memory as a table row',
    )
    .argument('<name>', 'model or alias of the running gateway')
    .option('--audio <file>', 'stt: other speech, with --text')
    .option('--text <words>', 'what is said in --audio')
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      examples(
        [
          'models verify whisper-1',
          'models verify own --audio a.wav --text "mind the gap"',
        ],
        NOTES,
      ),
    )
    .action((name: string, options: VerifyOptions) =>
      interruptible(async signal => {
        if ((options.audio === undefined) !== (options.text === undefined))
          throw new CliError('--audio and --text belong together', EXIT.usage);
        const client = new GatewayClient(options);
        const served = await client.json<Served>(
          `/v1/models/${encodeURIComponent(name)}`,
          { signal },
        );
        const { accuracy, speed } = await CHECKS[served.kind](client, served, {
          ...options,
          signal,
        });
        const row = {
          model: served.root,
          ...(await workerFacts(client, served.root, signal)),
          accuracy,
          speed,
        };
        const date = new Date().toISOString().slice(0, 10);
        if (options.json) return printJson({ ...row, date });
        say('| model | engine | device | accuracy | speed | memory | revision | date |');
        const { model, engine, device, memory, revision } = row;
        print(
          `| ${[`\`${model}\``, engine, device, accuracy, speed, memory, revision, date].join(' | ')} |`,
        );
      }),
    );

type CheckContext = Pick<VerifyOptions, 'audio' | 'text'> & {
  readonly signal: AbortSignal;
};
type Check = (
  client: GatewayClient,
  served: Served,
  context: CheckContext,
) => Promise<Verdict>;

const CHECKS: Readonly<Record<ModelKind, Check>> = {
  stt: async (client, { root }, { audio, text = SPOKEN, signal }) => {
    const form = new FormData();
    form.set('model', root);
    form.set('response_format', 'verbose_json');
    form.set(
      'file',
      audio === undefined ? await openAsBlob(SPEECH) : await fileBlob(audio),
      audio ?? 'speech.ogg',
    );
    const [answer, ms] = await timed(() =>
      client.json<{ text: string; duration: number }>('/v1/audio/transcriptions', {
        method: 'POST',
        body: form,
        signal,
      }),
    );
    const [said, heard] = [wordsOf(text), wordsOf(answer.text)];
    const errors = editDistance(said, heard);
    const what =
      audio === undefined ? 'of 5 sentences spoken by flite' : `of ${said.length} words`;
    return {
      accuracy: `word errors ${percent(errors, said.length)} ${what}`,
      speed: realTime(ms, answer.duration),
    };
  },
  tts: async (client, { root, voices }, { signal }) => {
    const body = {
      model: root,
      input: SPOKEN,
      voice: voices[0] ?? 'alloy',
      response_format: 'wav',
    };
    const [audio, ms] = await timed(async () =>
      (await client.request('/v1/audio/speech', post(body, signal))).bytes(),
    );
    const seconds = wavSeconds(Buffer.from(audio));
    const pace = wordsOf(SPOKEN).length / (seconds / 60);
    return {
      accuracy: `${pace.toFixed(0)} words per minute; not listened to`,
      speed: realTime(ms, seconds),
    };
  },
  llm: async (client, { root }, { signal }) => {
    let [right, tokens, ms] = [0, 0, 0];
    for (const [content, answer] of QUESTIONS) {
      const body = {
        model: root,
        messages: [{ role: 'user', content }],
        temperature: 0,
        max_tokens: 512,
      };
      const [reply, took] = await timed(() =>
        client.json<ChatReply>('/v1/chat/completions', post(body, signal)),
      );
      // Of a model that thinks aloud, what comes after.
      const said = (reply.choices[0]?.message.content ?? '').replace(
        /<think>.*?(<\/think>|$)/s,
        '',
      );
      if (answer.test(said)) right++;
      tokens += reply.usage.completion_tokens;
      ms += took;
    }
    const speed = `${(tokens / (ms / 1000)).toFixed(1)} tokens/s`;
    return { accuracy: `${right} of ${QUESTIONS.length} questions`, speed };
  },
  embedding: async (client, { root }, { signal }) => {
    const body = { model: root, input: LIKENESSES.flat(), encoding_format: 'float' };
    const [{ data }, ms] = await timed(() =>
      client.json<{ data: { embedding: number[] }[] }>(
        '/v1/embeddings',
        post(body, signal),
      ),
    );
    const vectors = data.map(({ embedding }) => embedding);
    const right = LIKENESSES.filter((_, at) => {
      const [one = [], like = [], other = []] = vectors.slice(3 * at);
      return cosine(one, like) > cosine(one, other);
    });
    const texts = ((1000 * vectors.length) / ms).toFixed(1);
    return {
      accuracy: `${right.length} of ${LIKENESSES.length} likenesses`,
      speed: `${texts} texts/s`,
    };
  },
};

interface ChatReply {
  readonly choices: readonly { readonly message: { readonly content: string | null } }[];
  readonly usage: { readonly completion_tokens: number };
}

const post = (body: object, signal: AbortSignal) => ({
  ...{ method: 'POST' as const, body: JSON.stringify(body), signal },
  headers: { 'content-type': 'application/json' },
});

async function timed<T>(work: () => Promise<T>): Promise<[T, ms: number]> {
  const from = performance.now();
  return [await work(), performance.now() - from];
}

/**
 * What admins are told, and memory of local processes; a key without that scope gets the
 * row without it.
 */
async function workerFacts(client: GatewayClient, model: string, signal: AbortSignal) {
  const answer = await client
    .json<{ data: WorkerAnswer[] }>('/admin/v1/workers', { signal })
    .catch(() => ({ data: [] }));
  const own = answer.data.filter(worker => worker.model === model);
  const { device = '-', health } = own[0] ?? ({} as WorkerAnswer);
  const bytes = own.reduce((sum, { pid }) => sum + residentBytes(pid), 0);
  const memory = bytes > 0 ? byteText(bytes) : '-';
  return {
    engine: health?.engine ?? '-',
    device,
    memory,
    revision: health?.revision ?? '-',
  };
}

/**
 * Resident memory of a process of this machine; 0 elsewhere. Its children count where
 * they hold the model.
 */
function residentBytes(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .filter(Boolean);
    const own = 1024 * Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
    return children.reduce((sum, child) => sum + residentBytes(Number(child)), own);
  } catch {
    return 0;
  }
}

const wordsOf = (text: string): readonly string[] =>
  text.toLowerCase().match(/[a-z']+/g) ?? [];
const percent = (part: number, all: number): string =>
  `${((100 * part) / Math.max(1, all)).toFixed(1)} %`;
const realTime = (ms: number, seconds: number): string =>
  `${(ms / 1000 / Math.max(seconds, 0.001)).toFixed(3)} × real time`;

/** Of 16 bit samples behind a head of 44 bytes, as the gateway writes it. */
const wavSeconds = (wav: Buffer): number =>
  (wav.length - 44) / Math.max(1, wav.readUInt32LE(28));

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
