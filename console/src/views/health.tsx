import { type Answer, get, request } from '../api/client';
import { useResource } from '../api/resource';
import { href } from '../router';
import { plural } from '../ui/format';
import { Card, Page, State, Time } from '../ui/parts';
import { Blank, Loaded } from '../ui/states';

interface Summary {
  readonly status: string;
  readonly [detail: string]: unknown;
}

type Worker = Answer<'/admin/v1/workers'>['data'][number];

const SAYS: Readonly<Record<string, string>> = {
  ok: 'Everything is in order.',
  degraded: 'Requests are served, but something is missing.',
  unavailable: 'No model can be served.',
  draining: 'The server finishes what it has and takes nothing new.',
};

/** What each dependency is for, and what happens without it. */
const MEANING: Readonly<Record<string, string>> = {
  redis: 'Shared limits and the live feed of several gateways. Without it each gateway counts for itself.',
  database: 'Batches, files and stored answers. Without it they cannot be created or read.',
  blob_store: 'Contents of files and results. Without it uploads and downloads fail.',
  blobs: 'Contents of files and results. Without it uploads and downloads fail.',
};

export default function Health() {
  const summary = useResource(
    async signal => (await (await request('/health', { signal })).json()) as Summary,
    'health',
    3000,
  );
  const dependencies = useResource(signal => get('/admin/v1/dependencies', { signal }), 'dependencies', 3000);
  const workers = useResource(signal => get('/admin/v1/workers', { signal }), 'workers', 3000);
  return (
    <Page title="Health" lead="What this server depends on, and what is wrong with it.">
      <Loaded from={summary}>
        {({ status }) => (
          <Card title={<State of={status} tone={status === 'ok' ? 'good' : 'bad'} />} class="why">
            <p>{SAYS[status] ?? ''}</p>
          </Card>
        )}
      </Loaded>
      <div class="columns">
        <Card title="Dependencies">
          <Loaded from={dependencies}>
            {({ data }) =>
              data.length === 0 ? (
                <Blank icon="health" title="None">
                  This server needs neither Redis nor a database.
                </Blank>
              ) : (
                <ul class="checks">
                  {data.map(each => (
                    <li key={each.name}>
                      <span class="inline">
                        <b>{each.name.replaceAll('_', ' ')}</b> <State of={each.status} />
                      </span>
                      <span class="muted">
                        since <Time at={each.since} />, last asked <Time at={each.checked_at} />
                      </span>
                      {each.error && <span class="state bad wrap">{each.error}</span>}
                      <span class="muted">{MEANING[each.name]}</span>
                    </li>
                  ))}
                </ul>
              )
            }
          </Loaded>
        </Card>
        <Card title="Workers" aside={<a href={href('workers')}>All workers</a>}>
          <Loaded from={workers}>{({ data }) => <WorkerChecks of={data} />}</Loaded>
        </Card>
      </div>
      <GatewayLog />
    </Page>
  );
}

function WorkerChecks({ of: all }: { of: readonly Worker[] }) {
  const wrong = all.filter(
    ({ state, problem }) => problem !== undefined || !['ready', 'busy', 'stopped'].includes(state),
  );
  if (wrong.length === 0) return <p class="state good">All of {plural(all.length, 'worker')} in order.</p>;
  return (
    <ul class="checks">
      {wrong.map(({ id, state, problem, last_exit: exit }) => (
        <li key={id}>
          <span class="inline">
            <b>{id}</b> <State of={state} />
          </span>
          {problem && <span class="state bad wrap">{problem}</span>}
          {exit && <span class="muted">Last ended {exit.signal ? `by ${exit.signal}` : `with code ${exit.code}`}</span>}
        </li>
      ))}
    </ul>
  );
}

interface LogLine {
  readonly at: number | string;
  readonly level: string;
  readonly text: string;
}

function GatewayLog() {
  const log = useResource(
    async signal =>
      (await (await request('/admin/v1/logs?lines=100&level=warn', { signal })).json()) as { data: LogLine[] },
    'log',
    5000,
  );
  return (
    <Card title="Warnings and errors of the gateway" aside="newest last">
      <Loaded from={log}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="state good">None since it started.</p>
          ) : (
            <pre class="log" tabIndex={0} aria-label="Log">
              {data.map(({ at, level, text }, row) => (
                <div key={row}>
                  <span class="muted">
                    <Time at={at} /> {level}
                  </span>{' '}
                  {text}
                </div>
              ))}
            </pre>
          )
        }
      </Loaded>
    </Card>
  );
}
