import { CliError, EXIT, type ExitCode } from '../../shared/cli-error.js';

type HubErrorKind =
  /** The host could not be reached, or stopped answering. */
  | 'unreachable'
  /** The hub wants a token, or the token has no access. */
  | 'gated'
  | 'not_found'
  /**
   * The host answered, but not with the file: a 429 or 5xx that stayed,
   * or another status.
   */
  | 'refused'
  /** The bytes are not those that were announced. */
  | 'checksum'
  | 'disk_full'
  /** The request of the user is wrong, such as a name that is no source. */
  | 'order';

const EXIT_CODES: Readonly<Partial<Record<HubErrorKind, ExitCode>>> = {
  order: EXIT.usage,
  unreachable: EXIT.unreachable,
};

/** Why model files did not come, in a sentence for the person who asked for them. */
export class HubError extends CliError {
  /** Whether another attempt may succeed. */
  readonly transient: boolean;
  /** Milliseconds that the host asked to wait before another attempt. */
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly kind: HubErrorKind,
    message: string,
    details: { transient?: boolean; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, EXIT_CODES[kind], details);
    this.name = 'HubError';
    this.transient = details.transient ?? false;
    this.retryAfterMs = details.retryAfterMs;
  }
}
