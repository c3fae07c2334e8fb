import { onParentLost, type ParentedProcess } from '../../platform/process/parent-loss.js';
import { type GatewayMessage, type ProcessorMessage } from '../../contracts/batch-processor/processor-link.js';

/** The part of `process` that is used here. */
export interface IpcProcess extends ParentedProcess {
  send?(message: ProcessorMessage, callback?: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

/** The tie to the gateway. A processor that was started by hand has none, and lives until it is told to stop. */
export class ParentLink {
  constructor(private readonly ipc: IpcProcess) {}

  /** @param lost the gateway is gone: nobody is left to send lines to */
  listen(listener: (message: GatewayMessage) => void, lost: () => void): void {
    onParentLost(this.ipc, lost);
    if (!this.ipc.connected) return;
    this.ipc.on('message', message => {
      const { type } = (message ?? {}) as { type?: unknown };
      if (type === 'wake' || type === 'metrics') listener({ type });
    });
  }

  /** Resolves when the message has left, or never can. */
  send(message: ProcessorMessage): Promise<void> {
    return new Promise(resolve => {
      if (!this.ipc.connected || !this.ipc.send) return resolve();
      this.ipc.send(message, () => resolve());
    });
  }
}
