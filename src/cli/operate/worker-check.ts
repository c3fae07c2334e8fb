import { type CheckOptions } from '@switchyard/worker-check/check.js';
import {
  type CheckResult,
  CHECKS,
  NoWorkerError,
  runChecks,
} from '@switchyard/worker-check/run-checks.js';
import { httpStatusOf } from '../../contracts/errors/error-registry.js';
import { MODEL_KINDS } from '../../platform/config/model-spec.js';
import { SETTINGS_TABLE } from '../../platform/config/settings.js';
import { readablePath, parseWholeNumber, repeatable } from '../shared/arguments.js';
import { CliError, EXIT, usageError } from '../shared/cli-error.js';
import { command, type OptionValues } from '../shared/command.js';
import { columns, dim, MARKS, print, printJson, ProgressLine } from '../shared/terminal.js';

const HELP = `
Examples:
  switchyard worker check 127.0.0.1:9000 --model whisper      model: the id in models.yaml
  switchyard worker check 127.0.0.1:9000 --only cancel --only slots
  switchyard worker check gpu-1:9000 --token-file token.txt --ca ca.pem
  switchyard worker check 127.0.0.1:9000 --pid 4711           ends the worker by SIGTERM, to see how it drains

Exit code 1: a check failed; 3: nothing answers at the address. What the protocol asks for:
docs/guides/write-a-worker.md.
A run takes 60 seconds at most. The worker should have nothing else to do meanwhile.`;

const OPTIONS = {
  '-m, --model <id>': 'id of the model in models.yaml',
  '--kind <kind>': ['kind of the model (default: as the worker says)', MODEL_KINDS],
  '--voice <id>': 'tts: the voice id of the worker to speak with',
  '--token-file <file>': 'file with the bearer token that the worker demands',
  '--ca <file>': 'TLS, with the certificate authority in this PEM file',
  '--pid <pid>': [
    'process of the worker on this machine: is sent SIGTERM at the end',
    parseWholeNumber(2),
  ],
  '--only <name>': repeatable('only this check'),
  '--list': 'list the checks',
} as const;

export const workerCheckCommand = command('check [address]', {
  about:
    'whether a worker, in any language, keeps to the protocol; each failure with the paragraph to read',
  arg: 'HOST:PORT of the worker',
  help: HELP,
  options: OPTIONS,
  async run({ arg, options, signal }) {
    const { only, json } = options;
    if (options.list) return listChecks(json);
    const asked = await checkOptions(arg, options);
    using progress = new ProgressLine();
    const results = await runChecks(asked, {
      checks: CHECKS.filter(({ name }) => only.length === 0 || only.includes(name)),
      signal,
      onStart: ({ name, about }) => json || progress.show(dim(`… ${name}: ${about}`)),
      onResult(result) {
        progress.clear();
        if (!json) print(line(result));
      },
    }).catch((error: unknown) => {
      throw error instanceof NoWorkerError ? new CliError(error.message, EXIT.unreachable) : error;
    });
    const ok = results.every(({ state }) => state !== 'fail');
    return { ok, address: asked.address, checks: results };
  },
  text: ({ checks }) => summary(checks),
});

function listChecks(json: boolean | undefined): undefined {
  const checks = CHECKS.map(({ name, about, kinds = MODEL_KINDS }) => ({
    name,
    about,
    kinds,
  }));
  if (json) printJson({ checks });
  else print(columns(checks.map(({ name, about }) => [name, about])));
}

const STATE_MARKS = { pass: MARKS.ok, fail: MARKS.fail, not_judged: dim('-') } as const;
const WIDTH = Math.max(...CHECKS.map(({ name }) => name.length));

function line({ name, state, detail, ms, guide }: CheckResult) {
  const time = ms >= 1000 ? dim(` (${(ms / 1000).toFixed(1)} s)`) : '';
  const text = state === 'not_judged' ? dim(`not judged: ${detail}`) : detail;
  const read = guide === undefined ? '' : `\n${' '.repeat(WIDTH + 3)}${dim('→')} ${guide}`;
  return `${STATE_MARKS[state]} ${name.padEnd(WIDTH)} ${text}${time}${read}`;
}

function summary(results: readonly CheckResult[]) {
  const count = (state: CheckResult['state']) =>
    results.filter(result => result.state === state).length;
  return `${count('pass')} passed, ${count('fail')} failed, ${count('not_judged')} not judged`;
}

/** @throws CliError exit code 2 */
async function checkOptions(
  address: string | undefined,
  options: OptionValues<typeof OPTIONS>,
): Promise<CheckOptions> {
  if (address === undefined || !/^(\[[^\]]+\]|[^\s:/]+):\d{1,5}$/.test(address))
    throw usageError(
      `the worker must be HOST:PORT, such as 127.0.0.1:9000; got "${address ?? ''}"`,
    );
  const unknown = options.only.find(name => CHECKS.every(known => known.name !== name));
  if (unknown !== undefined)
    throw usageError(
      `--only ${unknown}: there is no such check; see switchyard worker check --list`,
    );
  const { model, kind, voice, pid, tokenFile, ca } = options;
  const remote = {
    ...(tokenFile !== undefined && { tokenFile: await readablePath(tokenFile) }),
    ...(ca !== undefined && { tls: { caFile: await readablePath(ca) } }),
  };
  const gateway = {
    uploadLimitBytes: SETTINGS_TABLE['server.upload_limit_bytes'].default,
    statusOf: httpStatusOf,
  };
  return { address, remote, model, kind, voice, pid, ...gateway };
}
