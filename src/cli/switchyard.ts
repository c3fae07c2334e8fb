import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { ConfigError } from '../platform/config/config-problem.js';
import { batchCommand } from './batch.js';
import { chatCommand } from './chat.js';
import { CliError, EXIT, type ExitCode, InterruptedError } from './cli-error.js';
import { configCommand } from './config.js';
import { doctorCommand } from './doctor.js';
import { HubError, type HubErrorKind } from './hub/hub-error.js';
import { keysCommand } from './keys.js';
import { modelsCheckCommand } from './models-check.js';
import { modelsListCommand } from './models-list.js';
import { modelsPullCommand } from './models-pull.js';
import { modelsRemoveCommand } from './models-remove.js';
import { speakCommand } from './speak.js';
import { MARKS, say } from './terminal.js';
import { transcribeCommand } from './transcribe.js';

export const modelsCommand = (): Command =>
  new Command('models')
    .description('model files: pull, list, check, remove')
    .addCommand(modelsListCommand())
    .addCommand(modelsPullCommand())
    .addCommand(modelsRemoveCommand())
    .addCommand(modelsCheckCommand());

/** Of this project, from its package.json: two folders above this file, built or not. */
export function productVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

const HELP = `
Examples:
  switchyard doctor                                    is this machine ready, and if not, what to do
  switchyard models pull hf:acme/asr --as asr          bring the files of a model
  switchyard speak "Mind the gap." -o gap.mp3
  switchyard transcribe gap.mp3 --format srt
  switchyard chat "What does a switchyard do?"
  switchyard batch submit lines.jsonl --endpoint /v1/audio/speech --watch

Environment:
  SWITCHYARD_…           overrides a setting: queue.max_requests is SWITCHYARD_QUEUE_MAX_REQUESTS
  SWITCHYARD_CONFIG      another settings file than config/switchyard.yaml
  HF_ENDPOINT            another model hub, as SWITCHYARD_HUB_ENDPOINT
  NODE_USE_ENV_PROXY=1   take HTTP_PROXY, HTTPS_PROXY and NO_PROXY for downloads
  NO_COLOR               no colours

Results go to stdout, all else to stderr. Exit codes: 0 done, 1 failed, 2 wrong usage or configuration (nothing was
tried), 3 the gateway or the hub cannot be reached, 130 Ctrl-C. The gateway itself is started by npm run up or npm start.`;

function program(): Command {
  const commands = [
    modelsCommand(),
    transcribeCommand(),
    speakCommand(),
    chatCommand(),
    batchCommand(),
    doctorCommand(),
    configCommand(),
    keysCommand(),
  ];
  const root = new Command('switchyard')
    .description(
      'Speech and language models behind one OpenAI-compatible gateway: this command manages and tries them.',
    )
    .version(productVersion(), '-V, --version', 'the version of this installation')
    .addHelpText('after', HELP);
  for (const command of commands) root.addCommand(command);
  for (const command of all(root))
    command.exitOverride().showHelpAfterError('(--help tells more)').showSuggestionAfterError();
  return root;
}

const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];

const HUB_EXIT: Readonly<Partial<Record<HubErrorKind, ExitCode>>> = {
  order: EXIT.usage,
  unreachable: EXIT.unreachable,
};

/** Tells what went wrong, if it was not told already. @returns what the process ends with */
function exitCodeOf(error: unknown): number {
  // commander has printed its message; asking for help is no error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof InterruptedError) return tell(error, EXIT.interrupted);
  if (error instanceof CliError) return tell(error, error.exitCode);
  if (error instanceof ConfigError) return tell(error, EXIT.usage);
  if (error instanceof HubError) return tell(error, HUB_EXIT[error.kind] ?? EXIT.failed);
  throw error;
}

function tell({ message }: Error, code: ExitCode): ExitCode {
  say(`${MARKS.fail} ${message}`);
  return code;
}

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed),
);

try {
  await program().parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}
