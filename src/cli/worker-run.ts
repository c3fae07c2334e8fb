import { Command, Option } from 'commander';
import { workerSpecOf } from '../platform/config/worker-arguments.js';
import { WORKER_OPTIONS, type WorkerOption } from '../platform/config/worker-options.js';
import { readablePath, repeatable } from './shared/arguments.js';
import { examples } from './shared/examples.js';
import { runProgram } from './product-program.js';

type Values = Readonly<Record<string, string | boolean | readonly string[]>>;

const NOTES = `For a gateway on another machine, whose models.yaml has an entry with the same id and, in place of
replicas:

    addresses: [gpu-7:9000]
    remote: { token_file: worker-token }

Here the model comes from models.yaml, or from --engine, --kind and --option. Paths in options start where those of
models.yaml do, in the folder of the settings. The worker listens before it loads the model, and the gateway sends work
once it is ready: switchyard workers list, there, shows its state and what is wrong with it. Ctrl-C drains: running
requests finish. Nothing restarts a worker that was started by hand. Both machines must run the same release.`;

export function workerRunCommand(): Command {
  const command = new Command('run').description(
    'start one worker by hand, for a gateway elsewhere that names it',
  );
  const options = Object.entries<WorkerOption>(WORKER_OPTIONS).map(
    ([name, row]) => [optionOf(name, row), row] as const,
  );
  for (const [option] of options) command.addOption(option);
  return command
    .addHelpText(
      'after',
      examples(
        [
          'worker run --model whisper --listen 0.0.0.0:9000 --token-file worker-token',
          'worker run --model whisper --device cuda:1 --listen 0.0.0.0:9001 --token-file worker-token',
          'worker run --model parakeet --kind stt --engine sherpa-onnx --option modelDir=/models/parakeet --option threads=4',
          'worker run --model whisper --source pull',
        ],
        NOTES,
      ),
    )
    .action(async () => {
      const values = command.opts<Values>();
      const args = await Promise.all(
        options.map(([option, row]) => given(option, row, values)),
      );
      // What is wrong is said in the words of this command, before a process is started.
      workerSpecOf(args.flat());
      process.exitCode = await runProgram('dist/main.worker.js', args.flat());
    });
}

function optionOf(name: string, { value, multiple, help }: WorkerOption): Option {
  const flags = `--${name}${value === undefined ? '' : ` <${value}>`}`;
  return multiple ? repeatable(flags, help) : new Option(flags, help);
}

/**
 * The option as it was given, or nothing. Names of files start where the
 * command was typed.
 */
async function given(
  option: Option,
  { value: kind }: WorkerOption,
  values: Values,
): Promise<readonly string[]> {
  const value = values[option.attributeName()];
  const flag = option.long ?? '';
  if (value === undefined) return [];
  if (typeof value === 'boolean') return [flag];
  if (typeof value !== 'string') return value.flatMap(each => [flag, each]);
  return [flag, kind === 'FILE' ? await readablePath(value) : value];
}
