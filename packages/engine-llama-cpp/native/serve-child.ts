import { type FromChild } from '../protocol.js';
import { errorMessage } from '@switchyard/engine-api/error-message.js';

/** What a caller asked for cannot be had: told to the caller, not logged as a failure. */
export class Refusal extends Error {
  constructor(
    readonly code: 'invalid_value' | 'unsupported_parameter' | 'context_length_exceeded',
    message: string,
    readonly param?: string,
  ) {
    super(message);
  }
}

type Answer = (request: never) => unknown;

export interface ChildService<Info> {
  readonly info: Info;
  readonly operations: Readonly<Record<string, Answer>>;
}

/**
 * The child's half: loads, says `ready`, answers calls side by side. It ends with its
 * parent, at once and whatever native code is running.
 */
export function serveChild<Settings, Info>(
  open: (settings: Settings) => Promise<ChildService<Info>>,
): void {
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  // Ctrl-C reaches the whole process group of a terminal; the worker decides.
  process.on('SIGINT', () => undefined);
  void serve(JSON.parse(process.argv[2] ?? '{}') as Settings, open);
}

async function serve<Settings, Info>(
  settings: Settings,
  open: (settings: Settings) => Promise<ChildService<Info>>,
): Promise<void> {
  const send = (message: FromChild<Info>): void => void process.send?.(message);
  let service: ChildService<Info>;
  try {
    service = await open(settings);
  } catch (error) {
    process.send?.(
      { type: 'failed', message: errorMessage(error) } satisfies FromChild<Info>,
      () => process.exit(1),
    );
    return;
  }
  process.on(
    'message',
    (message: { id: number; operation: string; request: unknown }) => {
      void answer(service, message).then(send);
    },
  );
  send({ type: 'ready', info: service.info });
}

async function answer<Info>(
  { operations }: ChildService<Info>,
  { id, operation, request }: { id: number; operation: string; request: unknown },
): Promise<FromChild<Info>> {
  try {
    const answering = operations[operation] as
      ((request: unknown) => unknown) | undefined;
    if (answering === undefined) throw new Error(`There is no operation ${operation}.`);
    return { type: 'reply', id, reply: await answering(request) };
  } catch (error) {
    if (!(error instanceof Refusal))
      return { type: 'error', id, message: errorMessage(error) };
    const { code, message, param } = error;
    return { type: 'refused', id, code, message, ...(param !== undefined && { param }) };
  }
}
