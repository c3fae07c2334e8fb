import type { LiveRequest } from '../../../../src/contracts/events/live-event';
import type { Answer } from '../../api/client';
import { duration } from '../../ui/format';
import { Blank } from '../../ui/states';

export type Found = Answer<'/admin/v1/requests/{id}'>;

interface Phase {
  readonly name: string;
  readonly means: string;
  readonly startMs: number;
  readonly ms: number;
  readonly tone: string;
}

/** Every phase where it began, as long as it took. */
export function Waterfall({ of: request, live }: { of: Found; live: LiveRequest | undefined }) {
  const phases = phasesOf(request, live);
  const total = Math.max(...phases.map(({ startMs, ms }) => startMs + ms), 0.001);
  if (phases.length === 0) return <Blank title="No time has passed yet" />;
  return (
    <ol class="stack waterfall">
      {phases.map(({ name, means, startMs, ms, tone }) => (
        <li key={name} title={means}>
          <span class="phase-name">{name}</span>
          <span class="phase-track">
            <i
              class={tone}
              style={{
                left: `${(100 * startMs) / total}%`,
                width: `${Math.max((100 * ms) / total, 0.4)}%`,
              }}
            />
          </span>
          <span class="number">{duration(ms)}</span>
          <span class="phase-means muted">{means}</span>
        </li>
      ))}
    </ol>
  );
}

/** Names of the phases, in order; each begins where the one before ended. */
function phasesOf(
  { phases, waited_ms: waited, state, attempts }: Found,
  live: LiveRequest | undefined,
): Phase[] {
  const queued = phases.queue_wait_ms ?? waited;
  const window = phases.batch_wait_ms ?? 0;
  const call = phases.grpc_ms ?? 0;
  const { prepMs = 0, deviceMs } = (live?.phases ?? {}) as {
    prepMs?: number;
    deviceMs?: number;
  };
  const ready = phases.ready_ms ?? 0;
  const device = deviceMs ?? Math.max(0, call - ready - prepMs);
  const rest = Math.max(0, call - prepMs - ready - device);
  const after = phases.total_ms === undefined ? 0 : Math.max(0, phases.total_ms - queued - call);
  const lengths: [string, string, number, string][] = [
    ['Queue', 'until it was its turn', Math.max(0, queued - window), 'batch'],
    ['Window', 'held back to fill a group', window, 'aged'],
    ['Prepare', 'decoded and resampled', prepMs, 'accent'],
    ['Wait for device', 'prepared; others were being computed', ready, 'warn'],
    [
      'Device',
      deviceMs === undefined ? 'computed, with the call to the worker' : 'computed',
      device,
      'realtime',
    ],
    ['Call', 'to the worker and back', rest, 'muted'],
    [
      'Answer',
      attempts > 1 ? 'earlier attempts, and writing the answer' : 'written',
      after,
      'good',
    ],
  ];
  let at = 0;
  return lengths.flatMap(([name, means, ms, tone]) => {
    const startMs = at;
    at += ms;
    return ms > 0.05 || (name === 'Queue' && state === 'queued')
      ? [{ name, means, startMs, ms, tone }]
      : [];
  });
}
