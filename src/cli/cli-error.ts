/** What the command ends with. Scripts may rely on them; `switchyard --help` lists them. */
export const EXIT = {
  ok: 0,
  /** It was tried and failed, or a check found something. */
  failed: 1,
  /** Wrong usage or configuration: nothing was tried. */
  usage: 2,
  /** The gateway or the hub cannot be reached. */
  unreachable: 3,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure told in one message, without a stack. */
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
