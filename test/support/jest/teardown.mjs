import { noteSharedCpuTime } from './cpu-time.mjs';

/** Of the process in which jest runs its files one after the other. */
export default async () => {
  await globalThis[Symbol.for('switchyard.jest.shared')]?.();
  noteSharedCpuTime();
};
