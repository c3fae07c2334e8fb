import { loadText } from '../../core/devices/load-text.js';
import { type RequestView } from '../../core/dispatch/request-view.js';
import { type WaitForecast } from '../../core/forecast/forecast-view.js';

const REASONS: Readonly<
  Record<NonNullable<RequestView['waitsFor']>, (view: RequestView) => string>
> = {
  device: ({ model, load }) => loadText(model, load),
  worker: ({ model }) => `no worker of ${model} is up`,
  slot: ({ model }) => `every slot of the workers of ${model} that it may use is taken`,
  window: () => 'a slot is free and its batch window is open a moment longer, to fill the batch',
  turn: () => 'a slot is free and it goes next',
};

const seconds = (ms: number): string => `${(ms / 1000).toFixed(3)} s`;

/** The answer to "why does my request wait?", in a sentence or two. */
export function explainWait(view: RequestView, forecast?: WaitForecast): string {
  const { state, workerId = 'a worker', position, waitsFor, code, phases } = view;
  const waited = seconds(view.waitedMs);
  if (state === 'running') {
    return `It is at ${workerId}: being prepared, waiting for the device or being computed. It waited ${waited}.`;
  }
  if (state !== 'queued') {
    const ready = phases.readyMs
      ? ` and ${seconds(phases.readyMs)} for the device of ${workerId}`
      : '';
    return `It ended as ${state}${code ? ` (${code})` : ''}. It waited ${waited} in the queue${ready}.`;
  }
  const reason = waitsFor ? REASONS[waitsFor](view) : 'the scheduler has not reached it yet';
  const aged = view.aged ? ' It has aged and is dispatched in turns with realtime requests.' : '';
  const again = view.attempts > 0 ? ' Its first worker was lost; it keeps its place.' : '';
  const place = `It is number ${position ?? 1} in the queue of ${view.model}`;
  return `${place} and has waited ${waited}: ${reason}.${aged}${again}${forecast ? prospect(forecast) : ''}`;
}

const prospect = ({ startInMs: { p50, p90 } }: WaitForecast): string =>
  ` It will probably start in ${seconds(p50)}, and with 90 % probability within ${seconds(p90)}.`;
