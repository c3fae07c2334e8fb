import { useMemo } from 'preact/hooks';
import type { Answer } from '../../api/client';
import { useGet } from '../../api/resource';
import { Chart } from '../../ui/chart';
import { compact, duration, perSecond } from '../../ui/format';
import { Card } from '../../ui/parts';
import { Blank, Loaded } from '../../ui/states';

type History = Answer<'/admin/v1/history'>;
type Counts = History['points'][number]['models'][string];

/** Three charts: what came and went, what waited, and how long. */
export function LastHour() {
  const history = useGet('/admin/v1/history', {
    query: { minutes: 60 },
    everyMs: 10_000,
  });
  return (
    <Card title="Last hour" aside="all models, in steps of 10 s">
      <Loaded from={history} rows={4}>
        {data =>
          data.points.length === 0 ? (
            <Blank title="No data yet">The first 10 s are not over.</Blank>
          ) : (
            <Charts of={data} />
          )
        }
      </Loaded>
    </Card>
  );
}

type Pick = (counts: Counts) => number | null | undefined;
const add = (a: number, b: number): number => a + b;

/** What each chart shows: of all models their sum, of waits the longest. */
const CHARTS: readonly {
  title: string;
  format: (value: number) => string;
  isRate?: true;
  join: (a: number, b: number) => number;
  lines: readonly (readonly [label: string, color: string, pick: Pick, fill?: true])[];
}[] = [
  {
    ...{ title: 'Requests', format: perSecond, isRate: true, join: add },
    lines: [
      ['arrived', '--accent', counts => counts.arrived],
      ['completed', '--good', counts => counts.completed, true],
      ['errors', '--bad', counts => counts.failed + counts.refused],
    ],
  },
  {
    ...{ title: 'Waiting and in flight', format: compact, join: add },
    lines: [
      ['waiting', '--batch', counts => counts.waiting, true],
      ['in flight', '--realtime', counts => counts.in_flight],
    ],
  },
  {
    ...{ title: 'Wait', format: duration, join: Math.max },
    lines: [
      ['p95', '--warn', counts => counts.wait_p95_ms],
      ['p50', '--accent', counts => counts.wait_p50_ms],
    ],
  },
];

function Charts({ of: { points, step_s: step } }: { of: History }) {
  const charts = useMemo(
    () =>
      CHARTS.map(({ lines, join, isRate, ...chart }) => ({
        ...chart,
        lines: lines.map(([label, color, pick, fill]) => ({
          ...{ label, color, fill },
          values: points.map(
            ({ models }) =>
              Object.values(models).reduce((total, counts) => join(total, pick(counts) ?? 0), 0) /
              (isRate ? step : 1),
          ),
        })),
      })),
    [points],
  );
  const times = useMemo(() => points.map(({ at }) => at), [points]);
  return (
    <div class="columns">
      {charts.map(chart => (
        <Chart key={chart.title} times={times} {...chart} />
      ))}
    </div>
  );
}
