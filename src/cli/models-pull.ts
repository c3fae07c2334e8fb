import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { hubToken, launchDirectory } from '../platform/config/process-environment.js';
import { loadConfig } from '../platform/config/load-config.js';
import { type Settings } from '../platform/config/settings.js';
import { repeatable } from './shared/arguments.js';
import { CliError, EXIT } from './shared/cli-error.js';
import { command, type OptionValues } from './shared/command.js';
import { HubError } from './hub/hub-error.js';
import { HubHttp } from './hub/hub-http.js';
import { type PullManifest, readManifest } from './hub/model-folder.js';
import { pullModel, type PullRequest } from './hub/model-pull.js';
import {
  type ModelSource,
  parseSource,
  sourceText,
  suggestedName,
} from './hub/model-source.js';
import { findingsOf, ModelStore } from './hub/model-store.js';
import { PullProgress } from './pull-progress.js';
import { MARKS, print, printJson, say } from './shared/terminal.js';

/** A server that has begun to send counts as lost after this much silence. */
const STALL_MS = 60_000;

const HELP = `
SOURCE is one of
  hf:organisation/name[@revision]     a repository of the hub (hub.endpoint, HF_ENDPOINT)
  https://host/model.onnx             one file
  https://host/x/switchyard-model.json  a folder on a web server, by the manifest that a pull writes

Examples:
  switchyard models pull hf:onnx-community/whisper-base.en --include '*.json' --include 'onnx/*_quantized.onnx'
  switchyard models pull hf:acme/asr@v2 --as asr --token-file ~/.hub-token
  switchyard models pull https://files.example/vad.onnx --sha256 1a153a22…
  switchyard models pull hf:acme/asr --offline

--include may be repeated: *.onnx matches files in any folder, onnx/* files in one folder, onnx/** files at any depth.
An interrupted pull resumes. Every file is verified before it gets its name. In models.yaml, set the engine option of
the model (modelDir) to the folder. Then run: switchyard models check`;

const OPTIONS = {
  '--as <name>': 'name of the folder (default: the last part of the source)',
  '--into <dir>': 'exact folder, instead of one below hub.models_dir',
  '--sha256 <hex>': 'expected SHA-256 of the file, or of the manifest',
  '--include <glob>': repeatable('only these files'),
  '--token-file <file>':
    'file with the access token of the hub (default: HF_TOKEN, hub.token_file)',
  '--offline': 'no network; list what is here and what is missing',
  '-q, --quiet': 'show no progress',
} as const;

export const modelsPullCommand = command({
  name: 'pull',
  about: 'download and verify the files of a model; an interrupted download resumes',
  arg: ['<source>', 'hf:organisation/name[@revision], or an https URL'],
  help: HELP,
  options: OPTIONS,
  json: 'print the manifest as one JSON document',
  async run({ arg, options, signal }) {
    const { sha256, include, tokenFile, quiet, json } = options;
    if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256))
      throw new CliError('--sha256: must be 64 hexadecimal digits', EXIT.usage);
    const source = parseSource(arg);
    const { settings } = loadConfig();
    const folder = folderFor(source, options, settings);
    if (options.offline) return reportOffline(source, folder, json, signal);
    const http = hubHttp(tokenFile, settings);
    const order = { source, folder, include, sha256 };
    try {
      const manifest = await pullWithProgress(order, http, quiet, signal);
      if (json) return { folder, ...manifest };
      say(
        `${MARKS.ok} ${sourceText(source)} (${manifest.revision.slice(0, 12)}) is in ${resolve(folder)}`,
      );
    } catch (error) {
      throw withManualSteps(error, source, folder, settings.hub.endpoint);
    }
  },
});

export async function pullWithProgress(
  order: PullRequest,
  http: HubHttp,
  quiet: boolean | undefined,
  signal: AbortSignal,
): Promise<PullManifest> {
  const progress = new PullProgress(quiet === true);
  try {
    const { observe } = progress;
    return await pullModel(order, { http, signal, observe, stallMs: STALL_MS });
  } finally {
    progress.stop();
  }
}

function folderFor(
  source: ModelSource,
  { as: name, into }: OptionValues<typeof OPTIONS>,
  settings: Settings,
): string {
  if (into === undefined)
    return new ModelStore(settings.hub.modelsDir).folderOf(name ?? suggestedName(source));
  if (name === undefined) return resolve(launchDirectory(), into);
  throw new CliError(
    '--as names a folder below hub.models_dir, --into any folder: use one of them',
    EXIT.usage,
  );
}

/**
 * The configured hub, with the token of the command line, of the environment, or
 * of the settings.
 */
export const hubHttp = (tokenFile: string | undefined, settings: Settings): HubHttp =>
  new HubHttp({ endpoint: settings.hub.endpoint, token: tokenOf(tokenFile, settings) });

function tokenOf(tokenFile: string | undefined, { hub }: Settings): string | undefined {
  if (tokenFile === undefined && hubToken() !== undefined) return hubToken();
  const path =
    tokenFile === undefined
      ? hub.tokenFile && resolve(hub.tokenFile)
      : resolve(launchDirectory(), tokenFile);
  if (!path) return undefined;
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new CliError(
      `the token file cannot be read: ${(error as Error).message}`,
      EXIT.usage,
      { cause: error },
    );
  }
}

async function reportOffline(
  source: ModelSource,
  folder: string,
  json: boolean | undefined,
  signal: AbortSignal,
): Promise<void> {
  const manifest = await readManifest(folder);
  if (!manifest)
    throw new CliError(
      `${folder} holds no pulled model, and --offline uses no network to look up what belongs there`,
    );
  if (source.kind === 'hub' && manifest.source !== sourceText(source))
    throw new CliError(`${folder} holds ${manifest.source}, not ${sourceText(source)}`);
  const missing = await findingsOf(folder, manifest, { checksums: true, signal });
  if (json) printJson({ folder, ...manifest, missing });
  else
    for (const { path } of manifest.files) {
      const problem = missing.find(one => one.path === path)?.problem;
      print(problem ? `${MARKS.fail} ${path}  ${problem}` : `${MARKS.ok} ${path}`);
    }
  if (missing.length === 0) return;
  throw new CliError(
    `${missing.length} of ${manifest.files.length} files of ${manifest.source} are missing; ` +
      'pull again without --offline',
  );
}

/**
 * Without a network the files can be copied by hand: the message says from where
 * and to where.
 */
function withManualSteps(
  error: unknown,
  source: ModelSource,
  folder: string,
  endpoint: string,
): unknown {
  if (!(error instanceof HubError) || error.kind !== 'unreachable') return error;
  const page =
    source.kind === 'url'
      ? source.url
      : `${endpoint}/${source.repository}/tree/${source.revision}`;
  return new CliError(
    `${error.message}. To copy them by hand, download the files on another machine from ${page} and copy them to ` +
      `${dirname(folder)}/${basename(folder)}, subfolders included. The next pull resumes what has arrived.`,
    EXIT.unreachable,
    { cause: error },
  );
}
