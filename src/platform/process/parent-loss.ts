/** The part of `process` that is used here. */
export interface ParentedProcess {
  /** Present when somebody started this process with an IPC channel, also after that channel has closed. */
  readonly send?: unknown;
  readonly connected?: boolean;
  once(event: 'disconnect', listener: () => void): unknown;
}

/**
 * Calls `lost` once the process that started this one is gone, however it ended: the IPC channel between them closes
 * with it, after `kill -9` too. A parent that died before this call is noticed as well. Without such a parent nothing
 * is ever called.
 */
export function onParentLost(own: ParentedProcess, lost: () => void): void {
  if (own.send === undefined) return;
  if (own.connected) own.once('disconnect', lost);
  else lost();
}
