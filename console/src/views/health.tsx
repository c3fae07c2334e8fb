import { type Answer, get } from '../api/client';
import { useGet, useResource } from '../api/resource';
import { href } from '../router';
import { Finding } from '../ui/finding';
import { plural } from '../ui/format';
import { Log } from '../ui/log';
import { Card, Page, Time } from '../ui/parts';
import { Loaded } from '../ui/states';
import { Bottleneck } from './now/bottleneck';

type Worker = Answer<'/admin/v1/workers'>['data'][number];

/**
 * What each dependency is for, what happens without it, and its section of the runbook.
 */
const MEANING: Readonly<Record<string, readonly [text: string, section: string]>> = {
  redis: [
    'Shared queue, limits and live feed of several gateways. Without it a shared queue refuses requests, and each ' +
      'gateway counts limits for itself.',
    'switchyarddependencydown',
  ],
  database: [
    'Batches, files and stored answers. Without it they cannot be created or read.',
    'switchyarddependencydown',
  ],
  blobs: [
    'Contents of files and results. Without it uploads and downloads fail.',
    'switchyarddependencydown',
  ],
  batch_processor: ['Works through batches. Without it they wait.', 'switchyardnobatchprocessor'],
  disk: [
    'Where data.dir is. When it is full, uploads and batches fail.',
    'switchyarddiskalmostfull',
  ],
};

type Dependency = Answer<'/admin/v1/status'>['dependencies'][number] & {
  since?: string;
};

/** The status knows more of them, the probes since when. */
const dependenciesOf = async (signal: AbortSignal): Promise<Dependency[]> => {
  const [status, probed] = await Promise.all([
    get('/admin/v1/status', { signal }),
    get('/admin/v1/dependencies', { signal }),
  ]);
  return status.dependencies.map(each => ({
    ...each,
    ...probed.data.find(({ name }) => name === each.name),
  }));
};

export function Health() {
  const dependencies = useResource(dependenciesOf, 'dependencies', 3000);
  const workers = useGet('/admin/v1/workers', { everyMs: 3000 });
  return (
    <Page title="Health" lead={<Bottleneck />}>
      <div class="columns">
        <Card title="Dependencies">
          <Loaded from={dependencies}>
            {all => (
              <ul class="stack">
                {all.map(each => (
                  <DependencyCheck key={each.name} of={each} />
                ))}
              </ul>
            )}
          </Loaded>
        </Card>
        <Card title="Workers" aside={<a href={href('workers')}>All workers</a>}>
          <Loaded from={workers}>{({ data }) => <WorkerChecks of={data} />}</Loaded>
        </Card>
      </div>
      <Alerts />
      <GatewayLog />
    </Page>
  );
}

function DependencyCheck({ of: { name, state, text, since } }: { of: Dependency }) {
  const [means, section] = MEANING[name] ?? [];
  return (
    <Finding
      name={name.replaceAll('_', ' ')}
      state={state}
      aside={since && <Time at={since} />}
      runbook={state === 'down' && section}
    >
      {text && <span class={state === 'down' ? 'state bad wrap' : ''}>{text}</span>}
      <span class="muted">{means}</span>
    </Finding>
  );
}

/** Of the Prometheus that the settings name; nothing where they name none. */
function Alerts() {
  const alerts = useGet('/admin/v1/alerts', { everyMs: 10_000 });
  if (!alerts.data?.configured) return null;
  return (
    <Card title="Alerts" aside="from Prometheus">
      <Loaded from={alerts}>
        {({ data, problem }) =>
          data.length === 0 ? (
            <p class={`state wrap ${problem ? 'bad' : 'good'}`}>
              {problem ?? 'No alert is pending or firing.'}
            </p>
          ) : (
            <ul class="stack">
              {data.map(({ name, state, severity, since, summary, runbook_url: runbook }, row) => (
                <Finding
                  key={row}
                  name={name}
                  state={state}
                  tone={state === 'firing' && severity !== 'critical' ? 'warn' : undefined}
                  aside={[severity, ' ', <Time key="since" at={since} />]}
                  runbook={runbook}
                >
                  <span>{summary}</span>
                </Finding>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}

function WorkerChecks({ of: all }: { of: readonly Worker[] }) {
  const wrong = all.filter(
    ({ state, problem }) => problem !== undefined || !['ready', 'busy', 'stopped'].includes(state),
  );
  if (wrong.length === 0)
    return <p class="state good">All {plural(all.length, 'worker')} healthy.</p>;
  return (
    <ul class="stack">
      {wrong.map(({ id, state, problem, last_exit: exit }) => (
        <Finding key={id} name={id} state={state} runbook="switchyardmodelwithoutworker">
          {problem && <span class="state bad wrap">{problem}</span>}
          {exit && <span class="muted">Last exit: {exit.signal ?? `code ${exit.code}`}</span>}
        </Finding>
      ))}
    </ul>
  );
}

function GatewayLog() {
  const log = useGet('/admin/v1/logs', {
    query: { lines: 100, level: 'warn' },
    everyMs: 5000,
  });
  return (
    <Card title="Gateway warnings and errors" aside="newest last">
      <Log of={log} label="Log" none="None since the gateway started." />
    </Card>
  );
}
