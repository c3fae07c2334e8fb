import {
  answerCall,
  type FromRemote,
  type Operations,
  type RemoteCall,
} from '@switchyard/engine-api/threads/remote-calls.js';
import { errorMessage } from '@switchyard/engine-api/error-message.js';

/**
 * The child's half: loads, says `ready`, answers calls side by side. It ends with its
 * parent, at once and whatever native code is running.
 */
export async function serveChild<Settings, P extends Operations<P>, Info>(
  open: (settings: Settings) => Promise<{ readonly info: Info; readonly operations: P }>,
): Promise<void> {
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  // Ctrl-C reaches the whole process group of a terminal; the worker decides.
  process.on('SIGINT', () => undefined);
  const send = (message: FromRemote<Info>, sent = (): void => undefined): void =>
    void process.send?.(message, sent);
  const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
  let service: Awaited<ReturnType<typeof open>>;
  try {
    service = await open(settings);
  } catch (error) {
    return send({ type: 'failed', message: errorMessage(error) }, () => process.exit(1));
  }
  process.on('message', (call: RemoteCall) => {
    void answerCall(service.operations, call, message => send(message));
  });
  send({ type: 'ready', info: service.info });
}
