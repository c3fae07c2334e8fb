import { useRef } from 'preact/hooks';
import type { LiveWorker } from '../../../../src/contracts/events/live-event';
import type { Answer } from '../../api/client';
import { feedState } from '../../live/feed';
import { type Counts, queue, type Rates, rates, workers, ZERO } from '../../live/queue';
import { href } from '../../router';
import { compact, count, duration, perSecond } from '../../ui/format';
import { Blank, Skeleton } from '../../ui/states';
import { useDots } from './dots';

type Depth = Answer<'/admin/v1/queue'>['models'][number];
type Request = Answer<'/admin/v1/requests'>['data'][number];

const STOPS = ['Arrivals', 'Queue', 'Window', 'Workers', 'Outcomes'];
const QUIET: Rates = { arrived: 0, completed: 0, failed: 0, cancelled: 0, rejected: 0 };

/** The busiest first; those without work keep their order. */
const busiest = (models: ReadonlyMap<string, Counts>): [string, Counts][] =>
  [...models].sort(
    ([, a], [, b]) => b.realtime + b.batch + b.running - (a.realtime + a.batch + a.running),
  );

/** Requests from left to right, a row for each model. Dots are requests that moved. */
export function Flow({
  depths,
  waiting,
}: {
  depths: readonly Depth[];
  waiting: readonly Request[];
}) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  useDots(box, canvas);
  const idle = workers.value.map(({ model }) => [model, ZERO] as const);
  const rows = busiest(new Map([...idle, ...queue.value]));
  const most = Math.max(1, ...rows.map(([, { realtime, batch }]) => realtime + batch));
  if (rows.length === 0) {
    return (
      <Blank icon="models" title="No models yet">
        <a href={href('models')}>Add the first one</a>
      </Blank>
    );
  }
  return (
    <div class="flow" ref={box}>
      <canvas ref={canvas} aria-hidden="true" />
      <div class="flow-head" aria-hidden="true">
        {STOPS.map(stop => (
          <span key={stop}>{stop}</span>
        ))}
      </div>
      <ul class="stack">
        {rows.map(([model, counts]) => (
          <li key={model} class="flow-row" data-model={model}>
            <Arrivals model={model} rate={rates.value.get(model) ?? QUIET} />
            <Queue
              counts={counts}
              most={most}
              depth={depths.find(depth => depth.model === model)}
              waiting={waiting.filter(request => request.model === model)}
            />
            <Gathering
              waiting={waiting.filter(each => each.model === model && each.waits_for === 'window')}
            />
            <Slots
              workers={workers.value.filter(worker => worker.model === model)}
              running={counts.running}
            />
            <Outcomes rate={rates.value.get(model) ?? QUIET} counts={counts} />
          </li>
        ))}
      </ul>
    </div>
  );
}

const Arrivals = ({ model, rate }: { model: string; rate: Rates }) => (
  <div class="stop" data-stop="arrivals">
    <a href={href('requests', undefined, { model })} title={model}>
      {model}
    </a>
    <b>{perSecond(rate.arrived)}</b>
  </div>
);

interface QueueProps {
  readonly counts: Counts;
  readonly most: number;
  readonly depth: Depth | undefined;
  readonly waiting: readonly Request[];
}

function Queue({ counts: { realtime, batch }, most, depth, waiting }: QueueProps) {
  const share = (value: number) => ({ width: `${(100 * value) / most}%` });
  return (
    <div class="stop" data-stop="queue">
      <span class="inline spread stop-line">
        <b>{compact(realtime + batch)}</b>
        <span class="muted">
          {realtime + batch > 0 && depth?.oldest_wait_ms
            ? `oldest ${duration(depth.oldest_wait_ms)}`
            : 'waiting'}
        </span>
      </span>
      <span
        class="bar"
        role="img"
        aria-label={`${realtime} realtime and ${batch} batch requests wait`}
      >
        <i class="realtime" style={share(realtime)} />
        <i class="batch" style={share(batch)} />
      </span>
      <Tenants of={waiting} />
    </div>
  );
}

/** Whose requests wait, the most first. */
function Tenants({ of: waiting }: { of: readonly Request[] }) {
  const counts = new Map<string, number>();
  for (const { tenant = 'default' } of waiting) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  const most = [...counts].sort(([, a], [, b]) => b - a);
  if (most.length < 2) return null;
  return (
    <span class="inline tenants muted">
      {most.slice(0, 3).map(([tenant, n]) => (
        <span key={tenant}>
          {tenant} {count(n)}
        </span>
      ))}
      {most.length > 3 && <span>and {most.length - 3} more</span>}
    </span>
  );
}

const MOST_DOTS = 12;

/** Requests that a batch window holds back a moment, to fill a group. */
const Gathering = ({ waiting }: { waiting: readonly Request[] }) => (
  <div class="stop window" data-stop="window" title="Waiting for a batch window to fill">
    <span class="inline window-dots" aria-hidden="true">
      {waiting.slice(0, MOST_DOTS).map(({ request_id: id }) => (
        <i key={id} />
      ))}
    </span>
    <span class="muted">{waiting.length > 0 ? `${waiting.length} gather` : ''}</span>
  </div>
);

const MOST_SLOTS = 48;
const LOST = ['lost', 'unresponsive', 'suspended'];

function Slots({ workers: own, running }: { workers: readonly LiveWorker[]; running: number }) {
  const total = own.reduce((sum, { slots }) => sum + slots, 0);
  const lost = own.filter(({ state }) => LOST.includes(state)).length;
  const idle = total > 0 ? 'in use' : (own[0]?.state ?? 'no workers');
  const said = `${own.length} workers, ${lost} not ready, ${total} slots, ${running} requests in flight`;
  return (
    <div class="stop" data-stop="workers">
      <span class="inline spread stop-line">
        <b>{total > 0 ? `${count(running)} / ${count(total)}` : count(running)}</b>
        <span class={lost ? 'state bad' : 'muted'}>
          {lost ? `${lost} of ${own.length} not ready` : idle}
        </span>
      </span>
      {total <= MOST_SLOTS ? (
        <span class="inline" role="img" aria-label={said}>
          {own.map(worker => (
            <WorkerSlots key={worker.id} of={worker} />
          ))}
        </span>
      ) : (
        <span class="bar" role="img" aria-label={said}>
          <i class="accent" style={{ width: `${(100 * Math.min(running, total)) / total}%` }} />
        </span>
      )}
    </div>
  );
}

const WorkerSlots = ({ of: { id, state, slots, in_use: used } }: { of: LiveWorker }) => (
  <span
    class={`slot-group ${LOST.includes(state) ? 'bad' : ''}`}
    title={`${id}: ${state}, ${used} of ${slots} slots in use`}
  >
    {Array.from({ length: Math.max(slots, 1) }, (_, slot) => (
      <i key={slot} class={slot < used ? 'used' : ''} />
    ))}
  </span>
);

const Outcomes = ({ rate, counts }: { rate: Rates; counts: Counts }) => (
  <div class="stop" data-stop="outcomes">
    <span class="inline spread stop-line">
      <b>{perSecond(rate.completed)}</b>
      <span class="muted">{compact(counts.completed)} completed</span>
    </span>
    <span class="inline">
      {(['failed', 'cancelled', 'rejected'] as const)
        .filter(name => counts[name] > 0)
        .map(name => (
          <span key={name} class={`state ${name === 'cancelled' ? 'warn' : 'bad'}`}>
            {compact(counts[name])} {name === 'rejected' ? 'refused' : name}
          </span>
        ))}
    </span>
  </div>
);
