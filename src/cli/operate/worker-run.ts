import { type Option } from 'commander';
import { workerSpecOf, WORKER_OPTIONS } from '../../platform/config/worker-arguments.js';
import { readablePath, repeatable } from '../shared/arguments.js';
import { command } from '../shared/command.js';
import { runProgram } from '../shared/run-command.js';

type Given = string | boolean | readonly string[] | undefined;

const NOTES = `For a gateway on another machine, whose models.yaml has an entry with the same id and, in place of
replicas:

    addresses: [gpu-7:9000]
    remote: { token_file: worker-token }

Here the model comes from models.yaml, or from --engine, --kind and --option. Paths in options start in the folder of
the settings. switchyard workers list, there, shows its state and what is wrong with it. Ctrl-C drains: running requests
finish. Nothing restarts the worker. Both machines must run the same release.`;

const OPTIONS = WORKER_OPTIONS.map(([name, { value, multiple, help }]) => {
  const flags = `--${name}${value === undefined ? '' : ` <${value}>`}`;
  return [flags, multiple ? repeatable(help) : help] as const;
});

export const workerRunCommand = command('run', {
  about: 'start one worker by hand, for a gateway elsewhere that names it',
  examples: [
    'worker run --model whisper --listen 0.0.0.0:9000 --token-file worker-token',
    'worker run --model whisper --device cuda:1 --listen 0.0.0.0:9001 --token-file worker-token',
    'worker run --model parakeet --kind stt --engine sherpa-onnx --option modelDir=/models/parakeet --option threads=4',
    'worker run --model whisper --source pull',
  ],
  notes: NOTES,
  options: Object.fromEntries(OPTIONS),
  async run({ command: own }) {
    const args: string[] = [];
    for (const option of own.options) {
      const value = own.getOptionValue(option.attributeName()) as Given;
      args.push(...(await given(option, value)));
    }
    // What is wrong is said in the words of this command, before a process is started.
    workerSpecOf(args);
    process.exitCode = await runProgram('dist/main.worker.js', args);
  },
});

/**
 * The option as it was given, or nothing. Names of files start where the
 * command was typed.
 */
async function given({ long, flags }: Option, value: Given): Promise<readonly string[]> {
  const flag = long!;
  if (value === undefined) return [];
  if (typeof value === 'boolean') return [flag];
  if (typeof value !== 'string') return value.flatMap(each => [flag, each]);
  return [flag, flags.endsWith('<FILE>') ? await readablePath(value) : value];
}
