import { type RequestView, type WaitsFor } from '../../core/dispatch/request-view.js';

const REASONS: Readonly<Record<WaitsFor, (view: RequestView) => string>> = {
  worker: ({ model }) => `no worker of ${model} is up`,
  slot: ({ model }) => `every slot of the workers of ${model} that it may use is taken`,
  window: () => 'a slot is free and its batch window is still open',
  turn: () => 'a slot is free and it goes next',
};

const seconds = (ms: number): string => `${(ms / 1000).toFixed(3)} s`;

/** The answer to "why does my request wait?", in a sentence. */
export function explainWait(view: RequestView): string {
  const { state, workerId = 'a worker', position, waitsFor, code, phases } = view;
  const waited = seconds(view.waitedMs);
  if (state === 'running') {
    return `It is at ${workerId}, which prepares it, has it wait for the device or computes it; it waited ${waited} before.`;
  }
  if (state !== 'queued') {
    const ready = phases.readyMs ? `, and ${seconds(phases.readyMs)} for the device of ${workerId}` : '';
    return `It ended as ${state}${code ? ` (${code})` : ''} and had waited ${waited}${ready}.`;
  }
  const reason = waitsFor ? REASONS[waitsFor](view) : 'the scheduler has not looked at it yet';
  const aged = view.aged ? ' It is old enough to have its share of the turns beside realtime requests.' : '';
  const again = view.attempts > 0 ? ' Its first worker died; it keeps its place.' : '';
  return `It is number ${position ?? 1} in the queue of ${view.model} and has waited ${waited}: ${reason}.${aged}${again}`;
}
