/** The part of `process` that is used here. */
interface ParentedProcess {
  /**
   * Present when this process was started with an IPC channel, also after that
   * channel has closed.
   */
  send?(message: unknown, callback: (error: Error | null) => void): boolean;
  readonly connected?: boolean;
  once(event: 'disconnect', listener: () => void): unknown;
}

/**
 * Calls `lost` once the process that started this one is gone, however it ended: the IPC
 * channel between them closes with it, after `kill -9` too. A parent that died before
 * this call is noticed as well. Without such a parent nothing is ever called.
 */
export function onParentLost(own: ParentedProcess, lost: () => void): void {
  if (own.send === undefined) return;
  if (own.connected) own.once('disconnect', lost);
  else lost();
}

/**
 * Resolves when the message is sent or cannot be sent: a lost parent is
 * noticed by `onParentLost`.
 */
export function sendToParent(own: ParentedProcess, message: object): Promise<void> {
  return new Promise(resolve => {
    if (!own.connected || !own.send) return resolve();
    own.send(message, () => resolve());
  });
}
