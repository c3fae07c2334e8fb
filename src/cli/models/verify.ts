import { editDistance } from '@switchyard/engine-api/nearest-name.js';
import { peakBytes } from '../../platform/process/process-memory.js';
import { usageError } from '../shared/cli-error.js';
import { gatewayCommand } from '../shared/command.js';
import { GatewayClient } from '../shared/gateway-client.js';
import { type ServedModel, speechBody, speechForm } from '../shared/model-samples.js';
import { print, say, byteText } from '../shared/terminal.js';

interface Verdict {
  readonly accuracy: string;
  readonly speed: string;
  /** Texts that another server can be compared by; absent: of speech and vectors. */
  readonly said?: readonly string[];
}

/** The words of the recorded sample of speech. */
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
  ['Which is heavier: a kilogram of iron or two kilograms of wool? Answer with one word.', /wool/i],
  ['Translate "good morning" into German. Answer with the translation only.', /guten morgen/i],
];

/** Concurrent callers of the runs after the one with a single caller. */
const CALLERS = [8, 32] as const;
/** Prompt for a long answer, of which tokens per second are measured. */
const TELL = 'Tell a long story about a train that goes to the north.';
const TOLD_TOKENS = 64;

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
  ['The train was cancelled.', 'There is no train today.', 'The painting hangs in the museum.'],
] as const;

export const modelsVerifyCommand = gatewayCommand('verify <name>', {
  about:
    'run known audio or prompts through a model; prints accuracy, speed and memory as a table row',
  arg: 'model or alias of the running gateway',
  examples: [
    'models verify whisper-1',
    'models verify own --audio a.wav --text "mind the gap"',
    'models verify smollm2-135m-instruct --beside http://127.0.0.1:8080',
  ],
  notes:
    'Speed is measured alone, then with 8 callers, and with 32 where a model generates text: nothing else should use ' +
    'the gateway. With --beside, the same model on another server gets a row, too, and the first row says how many ' +
    'words are equal.',
  options: {
    '--audio <file>': 'stt: other speech, with --text',
    '--text <words>': 'what is said in --audio',
    '--beside <url>': 'stt, llm: another server with an API like that of OpenAI',
    '--beside-model <name>': 'the name of the model there (default: as here)',
  },
  json: true,
  async run({ client, arg, options }) {
    const { audio, text, json, beside } = options;
    if ((audio === undefined) !== (text === undefined))
      throw usageError('--audio and --text belong together');
    const served = await client.call('get', '/v1/models/{id}', { id: arg });
    const check = CHECKS[served.kind];
    const date = new Date().toISOString().slice(0, 10);
    const { said, ...verdict } = await check(client, served, audio, text);
    const facts = await workerFacts(client, served.root);
    const row: Row = { model: served.root, ...facts, ...verdict, date };
    if (beside === undefined) return json ? row : show([row]);
    // The key is the gateway's, and no matter of another server.
    const other = new GatewayClient({ url: beside, apiKey: 'unused' });
    const root = options.besideModel ?? served.root;
    const { said: others, ...theirs } = await check(other, { ...served, root }, audio, text);
    const rows: readonly Row[] = [
      { ...row, accuracy: row.accuracy + agreementOf(said, others) },
      { ...NO_FACTS, model: root, engine: beside, ...theirs, date },
    ];
    if (json) return { ...rows[0], beside: rows[1] };
    return show(rows);
  },
});

const COLUMNS = [
  'model',
  'engine',
  'device',
  'accuracy',
  'speed',
  'memory',
  'revision',
  'date',
] as const;

type Row = Readonly<Record<(typeof COLUMNS)[number], string>>;

const NO_FACTS = { engine: '-', device: '-', memory: '-', revision: '-' };

function show(rows: readonly Row[]): undefined {
  say(`| ${COLUMNS.join(' | ')} |`);
  for (const row of rows) {
    const cells = { ...row, model: `\`${row.model}\`` };
    print(`| ${COLUMNS.map(name => cells[name]).join(' | ')} |`);
  }
}

function agreementOf(ours: Verdict['said'], theirs: Verdict['said']) {
  if (!ours || !theirs) return '';
  const [here, there] = [ours, theirs].map(texts => wordsOf(texts.join('\n')));
  const equal = Math.max(0, here!.length - editDistance(here!, there!));
  return `; ${equal} of ${here!.length} words as ${there!.length} beside`;
}

type Check = (
  client: GatewayClient,
  served: ServedModel,
  audio?: string,
  text?: string,
) => Promise<Verdict>;

const CHECKS: Readonly<Record<ServedModel['kind'], Check>> = {
  async stt(client, served, audio, text = SPOKEN) {
    const body = await speechForm(served, audio);
    const hear = () =>
      client.json<{ text: string; duration: number }>('post', '/v1/audio/transcriptions', { body });
    const [answer, ms] = await timed(hear);
    const [, togetherMs] = await together(CALLERS[0], hear);
    const said = wordsOf(text);
    const errors = editDistance(said, wordsOf(answer.text));
    const rate = ((100 * errors) / Math.max(1, said.length)).toFixed(1);
    const what = audio === undefined ? 'of 5 recorded sentences' : `of ${said.length} words`;
    return {
      said: [answer.text],
      accuracy: `word errors ${rate} % ${what}`,
      speed:
        `${realTime(ms, answer.duration)}; ` +
        `${realTime(togetherMs, CALLERS[0] * answer.duration)} with ${CALLERS[0]} callers`,
    };
  },
  async tts(client, served) {
    const body = speechBody(served, SPOKEN, 'wav');
    const [audio, ms] = await timed(async () =>
      (await client.request('post', '/v1/audio/speech', { body })).bytes(),
    );
    const seconds = wavSeconds(Buffer.from(audio));
    const pace = wordsOf(SPOKEN).length / (seconds / 60);
    return {
      accuracy: `${pace.toFixed(0)} words per minute; not listened to`,
      speed: realTime(ms, seconds),
    };
  },
  async llm(client, { root: model, capabilities }) {
    const isBase = !capabilities.includes('chat');
    const ask = (content: string, most = 512) => {
      const order = { model, temperature: 0, max_tokens: most };
      const body = isBase
        ? { ...order, prompt: `Question: ${content}\nAnswer:`, stop: '\nQuestion:' }
        : { ...order, messages: [{ role: 'user', content }] };
      const path = isBase ? '/v1/completions' : '/v1/chat/completions';
      return client.json<TextReply>('post', path, { body });
    };
    let right = 0;
    const said: string[] = [];
    const textOf = ({ choices: [choice] }: TextReply) =>
      choice?.text ?? choice?.message?.content ?? '';
    for (const [question, answer] of QUESTIONS) {
      const text = textOf(await ask(question));
      said.push(text);
      // Of a model that thinks aloud, what comes after.
      if (answer.test(text.replace(/<think>.*?(<\/think>|$)/s, ''))) right++;
    }
    const [, firstMs] = await timed(() => ask(TELL, 1));
    const rates: string[] = [];
    for (const callers of [1, ...CALLERS]) {
      const [replies, ms] = await together(callers, () => ask(TELL, TOLD_TOKENS));
      if (callers === 1) said.push(...replies.map(textOf));
      const tokens = replies.reduce((sum, { usage }) => sum + usage.completion_tokens, 0);
      rates.push((tokens / (ms / 1000)).toFixed(0));
    }
    return {
      said,
      accuracy: `${right} of ${QUESTIONS.length} questions`,
      speed:
        `${rates.join(', ')} tokens/s with 1, ${CALLERS.join(', ')} callers; ` +
        `first token ${firstMs.toFixed(0)} ms`,
    };
  },
  async embedding(client, { root: model }) {
    const body = { model, input: LIKENESSES.flat(), encoding_format: 'float' };
    const [{ data }, ms] = await timed(() =>
      client.json<{ data: { embedding: number[] }[] }>('post', '/v1/embeddings', {
        body,
      }),
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

/** The answer of a chat, or of a base model that completes a text. */
interface TextReply {
  readonly choices: readonly {
    readonly text?: string;
    readonly message?: { readonly content: string | null };
  }[];
  readonly usage: { readonly completion_tokens: number };
}

/** Lets `callers` callers ask once, at the same time. */
const together = <T>(callers: number, ask: () => Promise<T>) =>
  timed(() => Promise.all(Array.from({ length: callers }, ask)));

async function timed<T>(work: () => Promise<T>): Promise<[T, ms: number]> {
  const from = performance.now();
  return [await work(), performance.now() - from];
}

/**
 * What admins are told, and memory of local processes; a key without that scope gets the
 * row without it.
 */
async function workerFacts(client: GatewayClient, model: string) {
  const { data } = await client.call('get', '/admin/v1/workers').catch(() => ({ data: [] }));
  const own = data.filter(worker => worker.model === model);
  const health = own[0]?.health as { engine?: string; revision?: string } | undefined;
  const bytes = own.reduce((sum, { pid }) => sum + peakBytes(pid), 0);
  return {
    engine: health?.engine ?? '-',
    device: own[0]?.device ?? '-',
    memory: bytes > 0 ? byteText(bytes) : '-',
    revision: health?.revision ?? '-',
  };
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[a-z']+/g) ?? [];
const realTime = (ms: number, seconds: number) =>
  `${(ms / 1000 / Math.max(seconds, 0.001)).toFixed(3)} × real time`;

/** Of 16 bit samples behind a head of 44 bytes, as the gateway writes it. */
const wavSeconds = (wav: Buffer) => (wav.length - 44) / Math.max(1, wav.readUInt32LE(28));

function cosine(a: readonly number[], b: readonly number[]) {
  const dot = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
