import { Command, CommanderError } from 'commander';
import { UsageError } from '../platform/config/program-arguments.js';
import { StartError } from '../platform/config/start-error.js';
import { productVersion } from '../platform/process/product-version.js';
import { modelsAddCommand } from './models/add.js';
import { modelsCheckCommand } from './models/check.js';
import { enginesCommand } from './models/engines/engines.js';
import { gpuCommand } from './models/engines/gpu.js';
import { modelsListCommand } from './models/list.js';
import { modelsPullCommand } from './models/pull.js';
import { modelsRemoveCommand } from './models/remove.js';
import { modelsSearchCommand } from './models/search.js';
import { modelsStarterCommand } from './models/starter.js';
import { modelsVerifyCommand } from './models/verify.js';
import { backupCommand } from './operate/backup/backup.js';
import { restoreCommand } from './operate/backup/restore.js';
import { completionCommand } from './operate/completion.js';
import { configCommand } from './operate/config.js';
import { doctorCommand } from './operate/doctor.js';
import { initCommand } from './operate/init.js';
import { keysCommand } from './operate/keys.js';
import { queueCommand, requestsCommand, whyCommand } from './operate/requests.js';
import { statusCommand, topCommand } from './operate/status.js';
import { supportBundleCommand } from './operate/support-bundle.js';
import { upCommand } from './operate/up.js';
import { tenantsCommand, usageCommand } from './operate/usage.js';
import { workerCheckCommand } from './operate/worker-check.js';
import { workerRunCommand } from './operate/worker-run.js';
import { workersCommand, logsCommand } from './operate/workers.js';
import { CliError, EXIT, type ExitCode, InterruptedError } from './shared/cli-error.js';
import { commandGroup, type LoadEngines } from './shared/command.js';
import { columns, MARKS, say } from './shared/terminal.js';
import { batchCommand } from './use/batch.js';
import { benchCommand } from './use/bench.js';
import { chatCommand } from './use/chat.js';
import { listenCommand } from './use/listen.js';
import { speakCommand } from './use/speak.js';
import { transcribeCommand } from './use/transcribe.js';

const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'done',
  failed: 'tried and failed, or a check found a problem',
  usage: 'wrong usage or configuration; nothing was tried',
  unreachable: 'the gateway, the hub or the worker cannot be reached',
  denied: 'not allowed: the API key is missing, wrong, or lacks the scope (401, 403)',
  notFound: 'the gateway has no such request, worker, batch, key or model (404)',
  busy: 'overloaded, rate-limited or not ready; trying again later may help (429, 503)',
  interrupted: 'Ctrl-C or SIGTERM',
};

const HELP = `
Examples:
  switchyard init                                      settings and models file in an empty folder
  switchyard up                                        start the gateway with its workers
  switchyard doctor                                    check this machine; each problem with its fix
  switchyard engines install ctranslate2               Whisper on CTranslate2, in a Python environment of its own
  switchyard models add whisper-small                  download, configure and load a model
  switchyard speak "Mind the gap." -o gap.mp3
  switchyard transcribe gap.mp3 --format srt
  switchyard chat "What does a switchyard do?"
  switchyard status                                    models, queues, workers, and what limits them
  switchyard why req_0198a1b2c3d4                      why a request waits
  switchyard worker check 127.0.0.1:9000               does this worker keep to the protocol?
  switchyard backup switchyard.tar                     files, batches, keys and models files in one archive
  switchyard batch submit lines.jsonl --endpoint /v1/audio/speech --watch

Environment:
  SWITCHYARD_…           overrides a setting: queue.max_requests is SWITCHYARD_QUEUE_MAX_REQUESTS
  SWITCHYARD_URL         the gateway that commands talk to; same as --url
  SWITCHYARD_API_KEY     its API key; same as --api-key, or --key-file with a file that holds it
  SWITCHYARD_CONFIG      settings file (default: switchyard.yaml of this folder, else config/switchyard.yaml)
  HF_ENDPOINT            model hub; same as SWITCHYARD_HUB_ENDPOINT
  HF_TOKEN               access token of the hub, for gated models
  NODE_USE_ENV_PROXY=1   use HTTP_PROXY, HTTPS_PROXY and NO_PROXY for downloads
  NO_COLOR               no colours

Results go to stdout, everything else to stderr. Exit codes:
${columns(exitRows().map(([code, meaning]) => [`  ${code}`, meaning]))}`;

/** Exit code and meaning, as text. */
export function exitRows(): readonly (readonly [code: string, meaning: string])[] {
  return Object.entries(EXIT).map(([name, code]) => [
    String(code),
    EXIT_MEANINGS[name as keyof typeof EXIT],
  ]);
}

const COMMANDS = [
  initCommand,
  upCommand,
  doctorCommand,
  supportBundleCommand,
  backupCommand,
  restoreCommand,
  statusCommand,
  topCommand,
  queueCommand,
  whyCommand,
  logsCommand,
  requestsCommand,
  workersCommand,
  commandGroup('models', 'models: find, add, list, check, verify, remove', [
    modelsSearchCommand,
    modelsAddCommand,
    modelsStarterCommand,
    modelsListCommand,
    modelsCheckCommand,
    modelsVerifyCommand,
    modelsRemoveCommand,
    modelsPullCommand,
  ]),
  transcribeCommand,
  speakCommand,
  chatCommand,
  listenCommand,
  batchCommand,
  benchCommand,
  keysCommand,
  tenantsCommand,
  usageCommand,
  enginesCommand,
  gpuCommand,
  configCommand,
  commandGroup('worker', 'workers that you write or start yourself', [
    workerRunCommand,
    workerCheckCommand,
  ]),
  completionCommand,
];

/** The whole command line. @param engines loads what the engines of this product say */
export function program(engines: LoadEngines): Command {
  const root = new Command('switchyard')
    .description(
      'Manages and tests the speech and language models of a Switchyard gateway, behind one OpenAI-compatible API.',
    )
    .version(productVersion(), '-V, --version', 'the version of this installation')
    .addHelpText('after', HELP);
  for (const make of COMMANDS) root.addCommand(make(engines));
  for (const command of all(root))
    command.exitOverride().showHelpAfterError('(see --help)').showSuggestionAfterError();
  return root;
}

const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];

/**
 * Reports an error, unless commander has printed it. @returns the exit code of the
 * process. @throws what is a bug
 */
export function exitCodeOf(error: unknown): number {
  // commander has printed its message; --help is no error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof InterruptedError) return report(error, EXIT.interrupted);
  if (error instanceof CliError) return report(error, error.exitCode);
  if (error instanceof StartError || error instanceof UsageError) return report(error, EXIT.usage);
  if (isSystemError(error)) return report(error, EXIT.failed);
  throw error;
}

/** Whether a file, socket or process operation failed with it, such as EACCES. */
const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'code' in error && 'syscall' in error;

function report({ message }: Error, code: ExitCode) {
  say(`${MARKS.fail} ${message}`);
  return code;
}
