import { Command, CommanderError } from 'commander';
import { UsageError } from '../platform/config/program-arguments.js';
import { StartError } from '../platform/config/start-error.js';
import { productVersion } from '../platform/process/product-version.js';
import { CliError, EXIT, type ExitCode, InterruptedError } from './shared/cli-error.js';
import { commandGroup } from './shared/command-group.js';
import { type CommandFactory, type EngineChecks } from './shared/command.js';
import { columns, MARKS, say } from './shared/terminal.js';

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

/** Loaded when they run. */
const COMMANDS: Readonly<Record<string, () => Promise<CommandFactory>>> = {
  init: async () => (await import('./init.js')).initCommand,
  up: async () => (await import('./up.js')).upCommand,
  doctor: async () => (await import('./doctor.js')).doctorCommand,
  'support-bundle': async () => (await import('./support-bundle.js')).supportBundleCommand,
  status: async () => (await import('./operate/status.js')).statusCommand,
  top: async () => (await import('./operate/status.js')).topCommand,
  queue: async () => (await import('./operate/requests.js')).queueCommand,
  why: async () => (await import('./operate/requests.js')).whyCommand,
  logs: async () => (await import('./operate/workers.js')).logsCommand,
  requests: async () => (await import('./operate/requests.js')).requestsCommand,
  workers: async () => (await import('./operate/workers.js')).workersCommand,
  models: async () =>
    commandGroup('models', 'models: find, add, list, check, verify, remove', [
      (await import('./models-search.js')).modelsSearchCommand,
      (await import('./models-add.js')).modelsAddCommand,
      (await import('./models-starter.js')).modelsStarterCommand,
      (await import('./models-list.js')).modelsListCommand,
      (await import('./models-check.js')).modelsCheckCommand,
      (await import('./models-verify.js')).modelsVerifyCommand,
      (await import('./models-remove.js')).modelsRemoveCommand,
      (await import('./models-pull.js')).modelsPullCommand,
    ]),
  transcribe: async () => (await import('./transcribe.js')).transcribeCommand,
  speak: async () => (await import('./speak.js')).speakCommand,
  chat: async () => (await import('./chat.js')).chatCommand,
  listen: async () => (await import('./listen.js')).listenCommand,
  batch: async () => (await import('./batch.js')).batchCommand,
  bench: async () => (await import('./bench.js')).benchCommand,
  keys: async () => (await import('./operate/keys.js')).keysCommand,
  tenants: async () => (await import('./operate/usage.js')).tenantsCommand,
  usage: async () => (await import('./operate/usage.js')).usageCommand,
  engines: async () => (await import('./engines.js')).enginesCommand,
  gpu: async () => (await import('./gpu.js')).gpuCommand,
  config: async () => (await import('./config.js')).configCommand,
  worker: async () =>
    commandGroup('worker', 'workers that you write or start yourself', [
      (await import('./worker-run.js')).workerRunCommand,
      (await import('./worker-check.js')).workerCheckCommand,
    ]),
};

/** Needs all others. */
const completion = async () => (await import('./completion.js')).completionCommand;

/**
 * The command line, with the command that the words name; with all of them where there
 * are no words, or the first is none of their names.
 * @param loadEngines gives what the engines of this product say
 */
export async function program(
  loadEngines: () => Promise<EngineChecks>,
  [first = '']: readonly string[] = [],
): Promise<Command> {
  const root = new Command('switchyard')
    .description(
      'Manages and tests the speech and language models of a Switchyard gateway, behind one OpenAI-compatible API.',
    )
    .version(productVersion(), ...VERSION)
    .addHelpText('after', HELP);
  for (const make of await commandsFor(first)) root.addCommand(make(await loadEngines()));
  for (const command of all(root))
    command.exitOverride().showHelpAfterError('(see --help)').showSuggestionAfterError();
  return root;
}

const VERSION = ['-V, --version', 'the version of this installation'] as const;

function commandsFor(first: string): Promise<readonly CommandFactory[]> {
  if (VERSION[0].split(', ').includes(first)) return Promise.resolve([]);
  const named = Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined;
  const loads = named ? [named] : [...Object.values(COMMANDS), completion];
  return Promise.all(loads.map(load => load()));
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

/** What a file, socket or process operation failed with, such as EACCES. */
const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'code' in error && 'syscall' in error;

function report({ message }: Error, code: ExitCode) {
  say(`${MARKS.fail} ${message}`);
  return code;
}
