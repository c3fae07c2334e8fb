import { type RequestView, type WaitsFor } from './request-view.js';

const REASONS: Readonly<Record<WaitsFor, (view: RequestView) => string>> = {
  worker: ({ model }) => `no worker of ${model} is up`,
  slot: ({ model }) => `every slot of the workers of ${model} is taken`,
  window: () => 'a slot is free and its batch window is open a moment longer, for company',
  turn: () => 'a slot is free and it goes next',
};

/** The answer to "why does my request wait?", in a sentence. */
export function explainWait(view: RequestView): string {
  const { state, workerId, position, waitsFor, code } = view;
  const waited = `${(view.waitedMs / 1000).toFixed(3)} s`;
  if (state === 'running') return `It runs on ${workerId ?? 'a worker'} and waited ${waited} before.`;
  if (state !== 'queued') return `It ended as ${state}${code ? ` (${code})` : ''} and had waited ${waited}.`;
  const reason = waitsFor ? REASONS[waitsFor](view) : 'the scheduler has not looked at it yet';
  const aged = view.aged ? ' It is old enough to count as realtime.' : '';
  const again = view.attempts > 0 ? ' Its first worker died; it keeps its place.' : '';
  return `It is number ${position ?? 1} in the line of ${view.model} and has waited ${waited}: ${reason}.${aged}${again}`;
}
