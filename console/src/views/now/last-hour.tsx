import { useMemo } from 'preact/hooks';
import { type History, useHistory } from '../../api/status';
import { Chart } from '../../ui/chart';
import { compact, duration, perSecond } from '../../ui/format';
import { Card } from '../../ui/parts';
import { Blank, Loaded } from '../../ui/states';

type Counts = History['points'][number]['models'][string];

/** Three charts: what came and went, what waited, and how long. */
export function LastHour() {
  const history = useHistory();
  return (
    <Card title="Last hour" aside="all models, 10 s each">
      <Loaded from={history} rows={4}>
        {data =>
          data.points.length === 0 ? (
            <Blank title="Nothing yet">The first ten seconds are not over.</Blank>
          ) : (
            <Charts of={data} />
          )
        }
      </Loaded>
    </Card>
  );
}

function Charts({ of: { points, step_s: step } }: { of: History }) {
  const series = useMemo(() => {
    const each = (pick: (counts: Counts) => number | null | undefined, join: (a: number, b: number) => number) =>
      points.map(({ models }) => Object.values(models).reduce((total, counts) => join(total, pick(counts) ?? 0), 0));
    const add = (a: number, b: number) => a + b;
    const perStep = (values: number[]) => values.map(value => value / step);
    return {
      times: points.map(({ at }) => at),
      arrived: perStep(each(counts => counts.arrived, add)),
      completed: perStep(each(counts => counts.completed, add)),
      failed: perStep(each(counts => counts.failed + counts.refused, add)),
      waiting: each(counts => counts.waiting, add),
      running: each(counts => counts.in_flight, add),
      p50: each(counts => counts.wait_p50_ms, Math.max),
      p95: each(counts => counts.wait_p95_ms, Math.max),
    };
  }, [points]);
  return (
    <div class="columns">
      <Chart
        title="Requests"
        times={series.times}
        format={perSecond}
        lines={[
          { label: 'arrived', color: '--accent', values: series.arrived },
          { label: 'completed', color: '--good', values: series.completed, fill: true },
          { label: 'failed or refused', color: '--bad', values: series.failed },
        ]}
      />
      <Chart
        title="Waiting and at workers"
        times={series.times}
        format={compact}
        lines={[
          { label: 'waiting', color: '--batch', values: series.waiting, fill: true },
          { label: 'at workers', color: '--realtime', values: series.running },
        ]}
      />
      <Chart
        title="Wait"
        times={series.times}
        format={duration}
        lines={[
          { label: 'p95', color: '--warn', values: series.p95 },
          { label: 'p50', color: '--accent', values: series.p50 },
        ]}
      />
    </div>
  );
}
