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
