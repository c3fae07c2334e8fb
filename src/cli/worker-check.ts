import { Command, Option } from 'commander';
import { MODEL_KINDS, type ModelKind } from '../platform/config/model-spec.js';
import { readablePath, parseWholeNumber, repeatable } from './shared/arguments.js';
import { CliError, EXIT, interruptible } from './shared/cli-error.js';
import {
  columns,
  dim,
  MARKS,
  print,
  printJson,
  ProgressLine,
} from './shared/terminal.js';
import { type CheckOptions } from './worker-check/check.js';
import { type CheckResult, CHECKS, runChecks } from './worker-check/run-checks.js';

interface Options {
  readonly model?: string;
  readonly kind?: ModelKind;
  readonly voice?: string;
  readonly tokenFile?: string;
  readonly ca?: string;
  readonly pid?: number;
  readonly only: readonly string[];
  readonly list?: boolean;
  readonly json?: boolean;
}

/** The pings of a gateway take 40 s; everything else runs meanwhile. */
const RUN_LIMIT_MS = 60_000;

const EXAMPLES = `
Examples:
  switchyard worker check 127.0.0.1:9000 --model whisper      model: the id in models.yaml
  switchyard worker check 127.0.0.1:9000 --only cancel --only slots
  switchyard worker check gpu-1:9000 --token-file token.txt --ca ca.pem
  switchyard worker check 127.0.0.1:9000 --pid 4711           ends the worker by SIGTERM, to see how it drains

Exit code 1: a check failed; 3: nothing answers at the address. What the protocol asks for:
docs/guides/write-a-worker.md.
A run takes 60 seconds at most. The worker should have nothing else to do meanwhile.`;

export const workerCheckCommand = (): Command =>
  new Command('check')
    .description(
      'whether a worker, in any language, keeps to the protocol; each failure with the paragraph to read',
    )
    .argument('[address]', 'HOST:PORT of the worker')
    .option('-m, --model <id>', 'id of the model in models.yaml')
    .addOption(
      new Option(
        '--kind <kind>',
        'kind of the model (default: as the worker says)',
      ).choices(MODEL_KINDS),
    )
    .option('--voice <id>', 'tts: the voice id of the worker to speak with')
    .option('--token-file <file>', 'file with the bearer token that the worker demands')
    .option('--ca <file>', 'TLS, with the certificate authority in this PEM file')
    .option(
      '--pid <pid>',
      'process of the worker on this machine: is sent SIGTERM at the end',
      parseWholeNumber(2),
    )
    .addOption(repeatable('--only <name>', 'only this check'))
    .option('--list', 'list the checks')
    .option('--json', 'one JSON document')
    .addHelpText('after', EXAMPLES)
    .action((address: string | undefined, options: Options) =>
      interruptible(async signal => {
        if (options.list) return listChecks(options);
        await check(await checkOptions(address, options), options, signal);
      }),
    );

function listChecks({ json }: Options): void {
  const list = CHECKS.map(({ name, about, kinds }) => ({
    name,
    about,
    kinds: kinds ?? MODEL_KINDS,
  }));
  if (json) printJson({ checks: list });
  else print(columns(list.map(({ name, about }) => [name, about])));
}

async function check(
  options: CheckOptions,
  { only, json }: Options,
  signal: AbortSignal,
): Promise<void> {
  const checks = CHECKS.filter(({ name }) => only.length === 0 || only.includes(name));
  const progress = new ProgressLine();
  const results = await runChecks(options, {
    ...{ checks, limitMs: RUN_LIMIT_MS, signal },
    onStart: ({ name, about }) => json || progress.show(dim(`… ${name}: ${about}`)),
    onResult(result) {
      progress.clear();
      if (!json) print(line(result));
    },
  }).finally(() => progress.clear());
  const failed = results.filter(({ state }) => state === 'fail').length;
  if (json) printJson({ ok: failed === 0, address: options.address, checks: results });
  else print(summary(results));
  if (failed > 0) process.exitCode = EXIT.failed;
}

const STATE_MARKS = { pass: MARKS.ok, fail: MARKS.fail, not_judged: dim('-') } as const;
const WIDTH = Math.max(...CHECKS.map(({ name }) => name.length));

function line({ name, state, detail, ms, guide }: CheckResult): string {
  const time = ms >= 1000 ? dim(` (${(ms / 1000).toFixed(1)} s)`) : '';
  const text = state === 'not_judged' ? dim(`not judged: ${detail}`) : detail;
  const read =
    guide === undefined ? '' : `\n${' '.repeat(WIDTH + 3)}${dim('→')} ${guide}`;
  return `${STATE_MARKS[state]} ${name.padEnd(WIDTH)} ${text}${time}${read}`;
}

function summary(results: readonly CheckResult[]): string {
  const count = (state: CheckResult['state']): number =>
    results.filter(result => result.state === state).length;
  return `${count('pass')} passed, ${count('fail')} failed, ${count('not_judged')} not judged`;
}

/** @throws CliError exit code 2 */
async function checkOptions(
  address: string | undefined,
  options: Options,
): Promise<CheckOptions> {
  if (address === undefined || !/^(\[[^\]]+\]|[^\s:/]+):\d{1,5}$/.test(address))
    throw new CliError(
      `the worker must be HOST:PORT, such as 127.0.0.1:9000; got "${address ?? ''}"`,
      EXIT.usage,
    );
  const unknown = options.only.find(name => CHECKS.every(known => known.name !== name));
  if (unknown !== undefined)
    throw new CliError(
      `--only ${unknown}: there is no such check; see switchyard worker check --list`,
      EXIT.usage,
    );
  const { model, kind, voice, pid, tokenFile, ca } = options;
  const remote = {
    ...(tokenFile !== undefined && { tokenFile: await readablePath(tokenFile) }),
    ...(ca !== undefined && { tls: { caFile: await readablePath(ca) } }),
  };
  return { address, remote, model, kind, voice, pid };
}
