import { useSignal } from '@preact/signals';
import { type Answer, post } from '../api/client';
import { useGet } from '../api/resource';
import { attempt, attemptConfirmed, Dialog } from '../ui/actions';
import { Button } from '../ui/controls';
import { bytes, count, plural } from '../ui/format';
import { Log } from '../ui/log';
import { Bar, Card, Facts, Page, State, Time } from '../ui/parts';
import { Blank, Loaded } from '../ui/states';

type Worker = Answer<'/admin/v1/workers'>['data'][number];

export function Workers() {
  const list = useGet('/admin/v1/workers', { everyMs: 1500 });
  const logOf = useSignal<Worker | undefined>(undefined);
  const none = (
    <Blank icon="workers" title="No workers">
      Set `replicas` or `addresses` of a model in the models file.
    </Blank>
  );
  return (
    <Page title="Workers" lead="Processes that compute: state, device, slots, restarts and logs.">
      <Loaded from={list} rows={6} none={none}>
        {({ data }) => (
          <div class="columns">
            {data.map(worker => (
              <WorkerCard
                key={worker.id}
                of={worker}
                reload={list.reload}
                showLog={() => (logOf.value = worker)}
              />
            ))}
          </div>
        )}
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

function WorkerCard({
  of: worker,
  reload,
  showLog,
}: {
  of: Worker;
  reload: () => void;
  showLog: () => void;
}) {
  const { id, model, state, slots, problem, last_exit: exit } = worker;
  const act = async (verb: 'drain' | 'resume', done: string) => {
    if (await attempt(() => post(`/admin/v1/workers/{id}/${verb}`, { id }), done)) reload();
  };
  const restart = async () => {
    const text = 'It finishes its running requests, then its process is replaced.';
    const order = () => post('/admin/v1/workers/{id}/restart', { id });
    if (await attemptConfirmed([`Restart ${id}?`, text, 'Restart'], order, `${id} restarts.`))
      reload();
  };
  return (
    <Card title={id} aside={<State of={state} />}>
      <div class="stack">
        <Bar value={slots.in_use} max={slots.total} label={`Slots: ${slotsText(worker)}`} />
        <Facts
          of={[
            ['Model', model],
            ['Slots', slotsText(worker)],
            ['Device', worker.device],
            ['Group size', groupSize(worker)],
            [
              'Live streams',
              worker.streams > 0 ? `${worker.streams_in_use} of ${worker.streams}` : undefined,
            ],
            ['Memory', memory(worker)],
            [
              'Process',
              worker.pid === undefined
                ? worker.address
                : `PID ${worker.pid}, ${worker.address ?? 'no address'}`,
            ],
            ['Restarts', count(worker.restarts)],
            ['Breaker', worker.breaker?.replace('_', ' ')],
          ]}
        />
        {problem && <p class="state bad wrap">{problem}</p>}
        {exit && <LastExit of={exit} />}
        <div class="inline">
          <Button act={showLog}>Log</Button>
          {worker.drained ? (
            <Button act={() => act('resume', `${id} takes requests again.`)}>Resume</Button>
          ) : (
            <Button act={() => act('drain', `${id} gets no new requests.`)}>Drain</Button>
          )}
          <Button kind="danger" disabled={worker.pid === undefined} act={restart}>
            Restart
          </Button>
        </div>
      </div>
    </Card>
  );
}

function LastExit({
  of: { code, signal, reason, lines },
}: {
  of: NonNullable<Worker['last_exit']>;
}) {
  return (
    <details>
      <summary>Last exit: {signal ?? `code ${code ?? 'unknown'}`}</summary>
      {reason && <p>{reason}</p>}
      {lines.length > 0 && (
        <pre class="log" tabIndex={0} aria-label="Its last lines">
          {lines.join('\n')}
        </pre>
      )}
    </details>
  );
}

function WorkerLog({ of: { id } }: { of: Worker }) {
  const log = useGet('/admin/v1/workers/{id}/log', {
    id,
    query: { lines: 200 },
    everyMs: 2000,
  });
  return <Log of={log} label={`Last lines of ${id}`} none="No output yet." />;
}

/**
 * A worker that does not answer offers none, but the requests that it has still count.
 */
const slotsText = ({ slots: { in_use: used, total }, state }: Worker): string =>
  total > 0
    ? `${used} of ${total} in use`
    : `none while ${state}${used > 0 ? `; ${plural(used, 'request')} in flight` : ''}`;

const health = ({ health: said }: Worker): Record<string, unknown> =>
  (said ?? {}) as Record<string, unknown>;

function groupSize(worker: Worker): string | undefined {
  const most = health(worker).max_batch;
  return typeof most === 'number' ? `up to ${count(most)}` : undefined;
}

function memory(worker: Worker): string | undefined {
  const { memoryBytes, memory_bytes: used = memoryBytes } = health(worker);
  return typeof used === 'number' && used > 0 ? bytes(used) : undefined;
}
