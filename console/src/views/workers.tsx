import { useSignal } from '@preact/signals';
import { type Answer, get, request } from '../api/client';
import { useResource } from '../api/resource';
import { attempt, confirmed, Dialog } from '../ui/actions';
import { bytes, count } from '../ui/format';
import { Bar, Card, Facts, Page, State, Time } from '../ui/parts';
import { Blank, Loaded } from '../ui/states';

type Worker = Answer<'/admin/v1/workers'>['data'][number];

export default function Workers() {
  const list = useResource(signal => get('/admin/v1/workers', { signal }), 'workers', 1500);
  const logOf = useSignal<Worker | undefined>(undefined);
  return (
    <Page title="Workers" lead="Processes that compute: their slots, restarts and last words.">
      <Loaded from={list} rows={6}>
        {({ data }) =>
          data.length === 0 ? (
            <Card>
              <Blank icon="workers" title="No workers">
                Add replicas or addresses to a model.
              </Blank>
            </Card>
          ) : (
            <div class="columns worker-cards">
              {data.map(worker => (
                <WorkerCard key={worker.id} of={worker} reload={list.reload} showLog={() => (logOf.value = worker)} />
              ))}
            </div>
          )
        }
      </Loaded>
      <Dialog
        open={logOf.value !== undefined}
        wide
        title={`Log of ${logOf.value?.id ?? ''}`}
        onClose={() => (logOf.value = undefined)}
      >
        {logOf.value && <WorkerLog of={logOf.value} />}
      </Dialog>
    </Page>
  );
}

function WorkerCard({ of: worker, reload, showLog }: { of: Worker; reload: () => void; showLog: () => void }) {
  const { id, model, state, slots, problem, last_exit: exit } = worker;
  const act = async (verb: 'drain' | 'resume' | 'restart', done: string) => {
    const path = `/admin/v1/workers/${encodeURIComponent(id)}/${verb}`;
    if (await attempt(() => request(path, { method: 'POST' }), done)) reload();
  };
  const restart = async () => {
    const text = 'What it computes now is tried again on another worker, or on this one when it is back.';
    if (await confirmed(`Restart ${id}?`, text, 'Restart')) await act('restart', `${id} restarts.`);
  };
  return (
    <Card title={id} aside={<State of={state} />} class={state === 'lost' ? 'bad-edge' : ''}>
      <div class="stack">
        <Bar value={slots.in_use} max={slots.total} label={`${slots.in_use} of ${slots.total} slots in use`} />
        <Facts
          of={[
            ['Model', model],
            ['Slots', `${slots.in_use} of ${slots.total} in use`],
            ['Device', worker.device],
            ['Group size', groupSize(worker)],
            ['Live streams', worker.streams > 0 ? `${worker.streams_in_use} of ${worker.streams}` : undefined],
            ['Memory', memory(worker)],
            [
              'Process',
              worker.pid === undefined ? worker.address : `${worker.pid} at ${worker.address ?? 'no address'}`,
            ],
            ['Restarts', count(worker.restarts)],
            ['Breaker', worker.breaker?.replace('_', ' ')],
          ]}
        />
        {problem && <p class="state bad wrap">{problem}</p>}
        {exit && <LastExit of={exit} />}
        <div class="inline">
          <button type="button" onClick={showLog}>
            Log
          </button>
          {state === 'draining' ? (
            <button type="button" onClick={() => void act('resume', `${id} takes requests again.`)}>
              Resume
            </button>
          ) : (
            <button type="button" onClick={() => void act('drain', `${id} gets no new requests.`)}>
              Drain
            </button>
          )}
          <button type="button" class="danger" disabled={worker.pid === undefined} onClick={() => void restart()}>
            Restart
          </button>
        </div>
      </div>
    </Card>
  );
}

function LastExit({ of: { code, signal, reason, lines } }: { of: NonNullable<Worker['last_exit']> }) {
  return (
    <details>
      <summary>Last ended {signal ? `by ${signal}` : `with code ${code ?? 'unknown'}`}</summary>
      {reason && <p>{reason}</p>}
      {lines.length > 0 && (
        <pre class="log" tabIndex={0} aria-label="Its last lines">
          {lines.join('\n')}
        </pre>
      )}
    </details>
  );
}

interface LogLine {
  readonly at: number | string;
  readonly level: string;
  readonly text: string;
}

function WorkerLog({ of: { id } }: { of: Worker }) {
  const path = `/admin/v1/workers/${encodeURIComponent(id)}/log?lines=200`;
  const log = useResource(
    async signal => (await (await request(path, { signal })).json()) as { data: LogLine[] },
    path,
    2000,
  );
  return (
    <Loaded from={log}>
      {({ data }) =>
        data.length === 0 ? (
          <Blank title="It has written nothing yet" />
        ) : (
          <pre class="log" tabIndex={0} aria-label={`Last lines of ${id}`}>
            {data.map(({ at, level, text }, row) => (
              <div key={row} class={`log-line ${level}`}>
                <span class="muted">
                  <Time at={at} />
                </span>{' '}
                {text}
              </div>
            ))}
          </pre>
        )
      }
    </Loaded>
  );
}

const health = ({ health: said }: Worker): Record<string, unknown> => (said ?? {}) as Record<string, unknown>;

function groupSize(worker: Worker): string | undefined {
  const most = health(worker).max_batch;
  return typeof most === 'number' ? `up to ${count(most)}` : undefined;
}

function memory(worker: Worker): string | undefined {
  const { memoryBytes, memory_bytes: used = memoryBytes } = health(worker);
  return typeof used === 'number' && used > 0 ? bytes(used) : undefined;
}
