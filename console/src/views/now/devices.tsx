import type { Answer } from '../../api/client';
import { useGet } from '../../api/resource';
import { bytes } from '../../ui/format';
import { Card } from '../../ui/parts';

type Device = Answer<'/admin/v1/devices'>['data'][number];

const SPAN_S = 15 * 60;
const WIDTH = 900;
const ROW = 22;
const STAGES = ['resident', 'loading', 'leaving'] as const;
/** Minutes ago that the axis names. */
const TICKS = [15, 10, 5, 0] as const;

/** What shares a device: each model as a line over the last 15 minutes, what waits for what, and what is next. */
export function Devices() {
  const { data } = useGet('/admin/v1/devices', { everyMs: 2000 });
  return (
    <>
      {data?.data.map(device => (
        <Card
          key={device.id}
          title={device.id}
          aside={
            <>
              {STAGES.map(stage => (
                <span key={stage}>
                  <i class={`swatch ${stage}`} /> {stage}
                </span>
              ))}{' '}
              {usedText(device)}
            </>
          }
        >
          <Timeline device={device} />
          {device.models.map(({ id, awaited, waiting }) =>
            awaited === undefined ? null : (
              <p class="device-wait" key={id}>
                <span class="state warn wrap">
                  {waiting} waiting: {awaited}.
                </span>
              </p>
            ),
          )}
          {device.next && <p class="device-wait">{device.next.explanation}.</p>}
        </Card>
      ))}
    </>
  );
}

const usedText = ({ used_bytes: used, memory_bytes: all, loaded_by: by }: Device): string =>
  by === undefined ? `${bytes(used)} of ${bytes(all)}` : `${bytes(all)}, loaded by ${by}`;

function Timeline({ device: { id, models, history } }: { device: Device }) {
  const now = Date.now() / 1000;
  const x = (at: number): number => Math.max(0, WIDTH * (1 - (now - at) / SPAN_S));
  const rowOf = new Map(models.map((model, row) => [model.id, row]));
  const label = `${id}: ${models.map(model => `${model.id} ${model.stage ?? 'not loaded'}`).join(', ')}`;
  return (
    <div class="device">
      <ul>
        {models.map(model => (
          <li key={model.id} title={`${bytes(model.memory_bytes)}, ${model.running} running`}>
            {model.id} <small>{model.stage ?? ''}</small>
          </li>
        ))}
      </ul>
      <svg
        viewBox={`0 0 ${WIDTH} ${ROW * models.length}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
        style={{ height: `${ROW * models.length}px` }}
      >
        {history.map(({ model, stage, from, to }) => {
          const row = rowOf.get(model);
          if (row === undefined) return null;
          const width = Math.max(1, x(to ?? now) - x(from));
          return (
            <rect
              key={`${model} ${from}`}
              class={stage}
              x={x(from)}
              y={row * ROW + 4}
              width={width}
              height={ROW - 8}
            />
          );
        })}
      </svg>
      <p class="device-axis">
        {TICKS.map(minutes => (
          <small key={minutes}>{minutes === 0 ? 'now' : `${minutes} min ago`}</small>
        ))}
      </p>
    </div>
  );
}
