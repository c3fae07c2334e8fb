/**
 * Exit codes of the command. Scripts may rely on them; `switchyard --help` and
 * docs/reference/cli.md list them.
 */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  denied: 4,
  notFound: 5,
  busy: 6,
  interrupted: 130,
} as const;

export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'done',
  failed: 'tried and failed, or a check found a problem',
  usage: 'wrong usage or configuration; nothing was tried',
  unreachable: 'the gateway, the hub or the worker cannot be reached',
  denied: 'not allowed: the API key is missing, wrong, or lacks the scope (401, 403)',
  notFound: 'the gateway has no such request, worker, batch, key or model (404)',
  busy: 'overloaded, rate-limited or not ready; trying again later may help (429, 503)',
  interrupted: 'Ctrl-C or SIGTERM',
};

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure that is reported in one message, without a stack. */
export class CliError extends Error {
  constructor(
    message: string,
    readonly exitCode: ExitCode = EXIT.failed,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'CliError';
  }
}

/** Nothing was tried: the command is not used as it should be, or is configured wrongly. */
export const usageError = (message: string, cause?: unknown): CliError =>
  new CliError(message, EXIT.usage, { cause });

/** Ctrl-C or SIGTERM. */
export class InterruptedError extends Error {
  constructor() {
    super('stopped');
    this.name = 'InterruptedError';
  }
}
