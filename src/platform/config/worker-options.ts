/** An option of a worker that is started by hand. */
export interface WorkerOption {
  readonly type: 'string' | 'boolean';
  /** What stands behind it. */
  readonly value?: string;
  readonly multiple?: true;
  readonly help: string;
}

/** `node dist/main.worker.js` and `switchyard worker run` both take these. */
export const WORKER_OPTIONS = {
  model: {
    type: 'string',
    value: 'ID',
    help: 'which model of models.yaml to compute; with --engine, its id',
  },
  listen: {
    type: 'string',
    value: 'HOST:PORT',
    help: 'where to listen; default 127.0.0.1:9000, port 0 takes any free one',
  },
  engine: {
    type: 'string',
    value: 'NAME',
    help: 'engine of a model that is not in the models.yaml here: --kind and --option take the place of the entry',
  },
  kind: {
    type: 'string',
    value: 'KIND',
    help: 'with --engine: stt, tts, llm or embedding; default: the only one of the engine',
  },
  option: {
    type: 'string',
    multiple: true,
    value: 'NAME=VALUE',
    help: "with --engine: one of the engine's options, such as modelDir=/models/whisper",
  },
  source: {
    type: 'string',
    value: 'WAY',
    help:
      'pull: files, speech and embeddings from the Redis of redis.url, as any worker of the queue; push: only what ' +
      'gateways send; default: as queue.driver says',
  },
  device: {
    type: 'string',
    value: 'NAME',
    help: 'handed to the engine as its option device, such as cuda:1',
  },
  id: { type: 'string', value: 'NAME', help: 'its name in logs; default ID@HOST:PORT' },
  'tls-cert': {
    type: 'string',
    value: 'FILE',
    help: 'certificate chain (PEM): the worker speaks TLS',
  },
  'tls-key': { type: 'string', value: 'FILE', help: 'its key' },
  'tls-client-ca': {
    type: 'string',
    value: 'FILE',
    help: 'take only clients whose certificate one of these signed',
  },
  'token-file': {
    type: 'string',
    value: 'FILE',
    help: 'take only calls with this bearer token',
  },
  insecure: {
    type: 'boolean',
    help: 'listen beyond loopback without TLS and token: only in a network without other machines',
  },
} as const satisfies Readonly<Record<string, WorkerOption>>;

const INDENT = 24;
const WIDTH = 118;

export const WORKER_USAGE = `node dist/main.worker.js --model ID [options]

Runs one worker by hand, for a gateway elsewhere: its models.yaml names this one under \`addresses\`. The model's engine
and options come from models.yaml here, or from the command line; limits from config/switchyard.yaml here.

${Object.entries<WorkerOption>({
  ...WORKER_OPTIONS,
  help: { type: 'boolean', help: 'this text' },
})
  .map(([name, { value, multiple, help }]) =>
    row(
      `  --${name}${value === undefined ? '' : ` ${value}`}`,
      multiple ? `${help}; may be repeated` : help,
    ),
  )
  .join('\n')}`;

/** The text beside the option, broken into lines. */
function row(option: string, text: string): string {
  const lines = text.split(' ').reduce<string[]>(
    (done, word) => {
      const line = `${done.at(-1)} ${word}`;
      return line.length <= WIDTH - INDENT
        ? [...done.slice(0, -1), line]
        : [...done, ` ${word}`];
    },
    [''],
  );
  return `${option.padEnd(INDENT - 1)}${lines.join(`\n${' '.repeat(INDENT - 1)}`)}`;
}
