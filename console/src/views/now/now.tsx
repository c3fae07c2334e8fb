import { useGet } from '../../api/resource';
import { isAdmin } from '../../api/session';
import { feedProblem } from '../../live/feed';
import { known, queue, rates, workers } from '../../live/queue';
import { compact, duration, percent, perSecond } from '../../ui/format';
import { Card, Figure, Page } from '../../ui/parts';
import { Blank } from '../../ui/states';
import { Arriving } from '../catalogue';
import { Bottleneck } from './bottleneck';
import { Devices } from './devices';
import { Flow } from './flow';
import { LastHour } from './last-hour';

/** What the server is doing. */
export function Now() {
  const everyMs = isAdmin.value ? 2000 : 0;
  const depths = useGet('/admin/v1/queue', { everyMs });
  const waiting = useGet('/admin/v1/requests', {
    query: { state: 'queued', limit: 1000 },
    everyMs,
  });
  return (
    <Page title="Now" lead={isAdmin.value ? <Bottleneck /> : 'Requests from arrival to answer.'}>
      {isAdmin.value && <Arriving />}
      {known.value ? (
        <>
          <Figures
            oldestMs={
              depths.data &&
              Math.max(0, ...depths.data.models.map(each => each.oldest_wait_ms ?? 0))
            }
          />
          <Card title="Flow" aside={<Legend />}>
            <Flow depths={depths.data?.models ?? []} waiting={waiting.data?.data ?? []} />
          </Card>
        </>
      ) : (
        <Blank title="Waiting for the live feed">
          {feedProblem.value || 'Counts appear when it is connected.'}
        </Blank>
      )}
      {isAdmin.value && <Devices />}
      {isAdmin.value && <LastHour />}
    </Page>
  );
}

const Legend = () => (
  <>
    {['realtime', 'batch', 'free'].map(name => (
      <span key={name}>
        <i class={`swatch ${name}`} /> {name}
      </span>
    ))}
  </>
);

/** @param oldestMs undefined: not known */
function Figures({ oldestMs }: { oldestMs: number | undefined }) {
  const lines = [...queue.value.values()];
  const sum = (of: 'realtime' | 'batch' | 'running') =>
    lines.reduce((total, line) => total + line[of], 0);
  const speed = (of: 'arrived' | 'completed' | 'rejected' | 'failed') =>
    [...rates.value.values()].reduce((total, each) => total + each[of], 0);
  const slots = workers.value.reduce((total, each) => total + each.slots, 0);
  const used = workers.value.reduce((total, each) => total + Math.min(each.in_use, each.slots), 0);
  const refused = speed('rejected');
  const rate = (value: number) => (rates.value.size > 0 ? perSecond(value) : '–');
  return (
    <dl class="figures">
      <Figure
        label="Waiting"
        value={compact(sum('realtime') + sum('batch'))}
        note={`${compact(sum('realtime'))} realtime, ${compact(sum('batch'))} batch`}
      />
      <Figure
        label="Oldest wait"
        value={oldestMs === undefined ? '–' : duration(oldestMs)}
        note={oldestMs === 0 ? 'queues are empty' : 'of all queues'}
        tone={(oldestMs ?? 0) > 60_000 && 'warn'}
      />
      <Figure label="Arriving" value={rate(speed('arrived'))} note="last 10 s" />
      <Figure
        label="Completed"
        value={rate(speed('completed'))}
        note={`${rate(speed('failed'))} failed`}
      />
      <Figure
        label="Slots in use"
        value={percent(slots ? used / slots : 0)}
        note={`${used} of ${slots}`}
      />
      <Figure label="Refused" value={rate(refused)} note="last 10 s" tone={refused > 0 && 'bad'} />
    </dl>
  );
}
