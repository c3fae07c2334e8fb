import { onParentLost, type ParentedProcess } from '../../platform/process/parent-loss.js';

/** Messages of a worker to the process that started it, over Node's IPC channel. */
export type WorkerMessage =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'ready' }
  | { readonly type: 'failed'; readonly message: string };

/** The part of `process` that is used here. */
export interface IpcProcess extends ParentedProcess {
  send?(message: unknown, callback: (error: Error | null) => void): boolean;
}

/** The link to the supervising gateway. A worker that was started by hand has none, and sends nothing. */
export class SupervisorLink {
  readonly #process: IpcProcess;
  readonly supervised: boolean;

  constructor(ipc: IpcProcess) {
    this.#process = ipc;
    this.supervised = ipc.send !== undefined && ipc.connected === true;
  }

  /** Resolves when the message was sent, or cannot be: the supervisor's death is seen as a disconnect. */
  report(message: WorkerMessage): Promise<void> {
    return new Promise(resolve => {
      if (!this.#process.connected || !this.#process.send) return resolve();
      this.#process.send(message, () => resolve());
    });
  }

  /** Calls `lost` when the supervisor is gone: no worker outlives its gateway. */
  onLost(lost: () => void): void {
    onParentLost(this.#process, lost);
  }
}
