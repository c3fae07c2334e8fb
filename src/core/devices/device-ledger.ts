import { type SharedDevice } from './swap-policy.port.js';

/**
 * The memory of devices: what is loaded, loading or leaving counts, from before a process
 * starts until it has ended. Never more than a device has.
 */
export class DeviceLedger {
  readonly #held = new Map<string, { readonly device: string; bytes: number }>();

  /** @param devices as they are configured now */
  constructor(private readonly devices: () => readonly SharedDevice[]) {}

  used(device: string): number {
    let bytes = 0;
    for (const held of this.#held.values()) if (held.device === device) bytes += held.bytes;
    return bytes;
  }

  fits(device: string, bytes: number): boolean {
    const { memory = 0 } = this.devices().find(({ id }) => id === device) ?? {};
    return this.used(device) + bytes <= memory;
  }

  /**
   * Records that a model holds memory of a device.
   * @throws Error when it does not fit, or holds memory already
   */
  take(model: string, device: string, bytes: number): void {
    if (this.#held.has(model)) throw new Error(`${model} holds memory already`);
    if (!this.fits(device, bytes)) throw new Error(`${model} does not fit on ${device}`);
    this.#held.set(model, { device, bytes });
  }

  /** Frees the memory of a model whose processes have ended. */
  release(model: string): void {
    this.#held.delete(model);
  }

  /** What it was found to use. More than was declared may exceed the device until others leave. */
  measured(model: string, bytes: number): void {
    const held = this.#held.get(model);
    if (held) held.bytes = bytes;
  }
}
